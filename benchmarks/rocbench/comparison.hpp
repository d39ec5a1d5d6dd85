// SPDX-License-Identifier: MIT
// The changes between two runs, how certain they are, and the command `compare`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark_run.hpp"
#include "format.hpp"

namespace rocbench {

enum class change : unsigned char {
  wrong_data,    ///< wrong data in one of the runs
  slower,        ///< the whole range is below the tolerance
  faster,        ///< the whole range is above the tolerance
  same,          ///< the whole range is within the tolerance
  unclear,       ///< the range contains an end of the tolerance
  not_measured,  ///< skipped or failed in one of the runs
};
/// The names of all changes, the worst first.
inline constexpr char const* change_names[] = {"wrong data", "slower",  "faster",
                                               "same",       "unclear", "not measured"};
constexpr char const* to_string(change verdict) noexcept {
  return change_names[static_cast<unsigned char>(verdict)];
}

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
  /// Warnings: different devices, drivers or machines, or files in the wrong order of time.
  std::vector<std::string> warnings;
  bool same_system = true;  ///< same platform, device, driver and runtime

  std::size_t count(change verdict) const;
};

/// Compares two runs in O(n log n). The result points into both.
/// @param tolerance change that counts as none: 0.02 for 2 %
comparison compare(benchmark_run const& before, benchmark_run const& after, double tolerance);

/// Returns the last line of `compare`. Its parts are separated by "; ", the worst first, so that a
/// script can test the first word: "wrong data", "below" (a threshold), "slower", "faster", "same"
/// or "unclear". The last part counts the cases without a verdict.
/// @param tolerance as given to compare()
/// @param below number of cases below a threshold
/// Precondition: `runs` has at least one case.
std::string verdict_line(comparison const& runs, double tolerance, std::size_t below = 0);

/// A line of a file of thresholds: "h2d/* 50 GB/s", "d2h/* 90 % of limit" or "raw/* 97 % of
/// before".
struct threshold {
  std::string cases;  ///< glob
  double minimum;     ///< in the unit
  std::string unit;   ///< "GB/s", "% of limit" or "% of before"
  std::string line;   ///< the text of the line
};

/// Parses the lines of a file. Ignores empty lines and lines that start with #. Throws file_error.
/// @param name name of the file in error messages
std::vector<threshold> parse_thresholds(std::string_view text, std::string const& name);

struct threshold_results {
  std::vector<std::string> below;  ///< descriptions of the cases below their threshold
  /// Descriptions of the thresholds that no case applies to, and of the cases that failed.
  std::vector<std::string> unchecked;
};

/// Compares the measured rates with the thresholds. If several apply to a case, it must reach all.
threshold_results check_thresholds(std::vector<threshold> const& thresholds,
                                   comparison const& runs);

struct compare_options {
  std::string before;      ///< result file of --json
  std::string after;       ///< result file of --json
  std::string thresholds;  ///< file name; empty: none
  double tolerance = 2;    ///< change in percent, from 0 to 100, that counts as no change
};

/// Prints what changed between two runs. Returns `mismatch` if a case has wrong data, `regression`
/// if a case is below its threshold, or slower on the same device and driver. Throws file_error.
exit_code compare(compare_options const& options);

}  // namespace rocbench
