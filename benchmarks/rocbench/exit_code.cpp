// SPDX-License-Identifier: MIT
#include "exit_code.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace rocbench {

exit_code fail(exit_code code, std::string const& message) {
  fmt::print(stderr, "rocbench: {}\n", message);
  return code;
}

}  // namespace rocbench
