// SPDX-License-Identifier: MIT
// The command `compare`.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace rocbench {

struct compare_options {
  std::string before;      ///< result file of --json
  std::string after;       ///< result file of --json
  std::string thresholds;  ///< file name; empty: none
  double tolerance = 2;    ///< change in percent that counts as no change
};

/// Prints what changed between two runs. Returns `mismatch` if a case has wrong data, `regression`
/// if a case is below its threshold, or slower on the same device and driver. Throws input_error.
exit_code compare(compare_options const& options);

}  // namespace rocbench
