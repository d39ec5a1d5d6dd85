// SPDX-License-Identifier: MIT
// Exit codes, and error messages on standard error.
#pragma once

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace rocbench {

enum class exit_code : int {
  ok = 0,
  usage = 1,           ///< wrong command line, unusable file, or a call that failed
  mismatch = 2,        ///< wrong data
  regression = 3,      ///< slower than before, below a threshold, or a fault found by doctor
  noisy = 4,           ///< a case is noisy; only with --strict
  nothing_to_run = 5,  ///< no device, or no matching case
  skipped = 77,        ///< the device supports none of the cases
  interrupted = 130,   ///< the code that shells use for a process ended by Ctrl-C
};

/// Prints "rocbench: MESSAGE" to standard error and returns `code`.
inline exit_code fail(exit_code code, std::string const& message) {
  fmt::print(stderr, "rocbench: {}\n", message);
  return code;
}

}  // namespace rocbench
