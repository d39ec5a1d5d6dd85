// SPDX-License-Identifier: MIT
// The report's bars: efficiency, times and changes.
#pragma once

#include <string>
#include <vector>

#include "bar_rows.hpp"
#include "case_pairs.hpp"
#include "comparison.hpp"

namespace rocbench {

/// Returns a row for each case with a rate, at its largest size.
std::vector<bar_row> efficiency_rows(std::vector<case_pair> const& pairs);

/// Return HTML; empty if there is nothing to show.
std::string efficiency_bars(std::vector<case_pair> const& pairs);
std::string time_bars(std::vector<case_pair> const& pairs);
std::string change_bars(comparison const& changes);

}  // namespace rocbench
