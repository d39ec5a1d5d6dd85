// SPDX-License-Identifier: MIT
// What changed between two runs, as far as their intervals can tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document.hpp"

namespace rocbench {

enum class change : unsigned char {
  same,    ///< surely within the tolerance
  faster,  ///< surely beyond it
  slower,
  unclear,       ///< the ranges allow both
  not_measured,  ///< skipped or failed in one of the runs
  wrong_data,    ///< in one of the runs
};
char const* to_string(change what) noexcept;

struct compared_case {
  case_result const* before;  ///< in the documents that were compared
  case_result const* after;
  change what = change::unclear;
  double speed = 0;  ///< of the medians: after over before, 1.1 is a tenth faster
  /// That the speed lies in: from the medians' intervals. Of a case that either run calls noisy,
  /// and whose intervals do not make it the same, from the spreads too: neither median may lie
  /// within the other run's p5 to p95 where it is to be faster or slower.
  interval range{};
};

struct comparison {
  std::vector<compared_case> cases;      ///< that both have at the same size, in the second's order
  std::vector<std::string> only_before;  ///< "h2d/pinned at 4 KiB"
  std::vector<std::string> only_after;
  /// Why speeds may differ for no fault of the code: another device or driver, for example.
  std::vector<std::string> differences;
  bool comparable = true;  ///< same platform, device and driver: a slower case is a regression
};

/// `tolerance` is the change that is none: 0.02 for 2 %. Keeps pointers into both documents.
comparison compare(document const& before, document const& after, double tolerance);

}  // namespace rocbench
