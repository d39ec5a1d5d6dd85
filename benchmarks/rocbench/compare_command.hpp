// SPDX-License-Identifier: MIT
// The command `compare`.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace rocbench {

struct compare_options {
  std::string before;  ///< files of --json
  std::string after;
  std::string thresholds;  ///< a file; empty: none
  double tolerance = 2;    ///< percent of change that is none
};

/// Prints what changed. `regression` for a slower case of the same device and driver, and for one
/// below its threshold; `mismatch` for wrong data. Throws input_error.
exit_code compare(compare_options const& chosen);

}  // namespace rocbench
