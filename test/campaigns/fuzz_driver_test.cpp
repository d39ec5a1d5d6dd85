// SPDX-License-Identifier: MIT
// A fuzzer that fails for inputs with "F" and, anywhere after it, "U". The driver must find one
// and cut it to these two bytes.
#include <string_view>

#include "campaigns/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text = roc::fuzz::input(data, size).rest();
  auto const first = text.find('F');
  bool const is_found = first != std::string_view::npos && text.find('U', first) != text.npos;
  roc::fuzz::require(!is_found, "an F and a U");
  return 0;
}
