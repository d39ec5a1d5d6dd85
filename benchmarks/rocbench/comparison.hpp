// SPDX-License-Identifier: MIT
// The changes between two runs, and how certain they are.
#pragma once

#include <string>
#include <vector>

#include "benchmark_run.hpp"

namespace rocbench {

enum class change : unsigned char {
  same,          ///< the whole range is within the tolerance
  faster,        ///< the whole range is above the tolerance
  slower,        ///< the whole range is below the tolerance
  unclear,       ///< the range contains an end of the tolerance
  not_measured,  ///< skipped or failed in one of the runs
  wrong_data,    ///< wrong data in one of the runs
};
char const* to_string(change verdict) noexcept;

struct compared_case {
  case_result const* before;  ///< points into the first run
  case_result const* after;   ///< points into the second run
  change verdict = change::unclear;
  double speed = 0;  ///< ratio of the medians; 1.1 means 10 % faster after
  /// The range of the speed, from the confidence intervals of the medians. If either run is noisy,
  /// the range also covers each run's 5th to 95th percentile, unless the intervals alone show that
  /// the case is the same.
  interval range{};
};

struct comparison {
  std::vector<compared_case> cases;  ///< in both runs at the same size, in the second run's order
  std::vector<std::string> only_before;  ///< for example "h2d/pinned at 4 KiB"
  std::vector<std::string> only_after;
  /// Differences between the environments, for example of the driver version.
  std::vector<std::string> differences;
  bool same_system = true;  ///< same platform, device, driver and runtime
};

/// Compares two runs. The result points into both.
/// @param tolerance change that counts as none: 0.02 for 2 %
comparison compare(benchmark_run const& before, benchmark_run const& after, double tolerance);

}  // namespace rocbench
