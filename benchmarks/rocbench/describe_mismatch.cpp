// SPDX-License-Identifier: MIT
#include "describe_mismatch.hpp"

#include <fmt/format.h>

#include "buffer.hpp"

namespace rocbench {

std::string describe_mismatch(char const* where, mismatch const& wrong, std::uint64_t sample) {
  return fmt::format("sample {}: {} byte {} is 0x{:02x}, not 0x{:02x}", sample, where, wrong.offset,
                     std::to_integer<unsigned>(wrong.found),
                     std::to_integer<unsigned>(wrong.expected));
}

std::optional<std::string> check_guards(std::span<std::byte> whole, std::uint64_t sample) {
  guarded_parts const parts(whole);
  if (auto const wrong = find_poison_mismatch(parts.before, sample)) {
    return describe_mismatch("guard before the payload,", *wrong, sample);
  }
  if (auto const wrong = find_poison_mismatch(parts.behind, sample)) {
    return describe_mismatch("guard behind the payload,", *wrong, sample);
  }
  return std::nullopt;
}

}  // namespace rocbench
