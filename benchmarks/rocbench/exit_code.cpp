// SPDX-License-Identifier: MIT
#include "exit_code.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace rocbench {

exit_code fail(exit_code code, std::string const& problem) {
  fmt::print(stderr, "rocbench: {}\n", problem);
  return code;
}

}  // namespace rocbench
