// SPDX-License-Identifier: MIT
// The parts of a report, each as HTML; empty where the run has nothing for them.
#pragma once

#include <string>
#include <vector>

#include "bar_rows.hpp"
#include "comparison.hpp"
#include "document.hpp"

namespace rocbench {

/// The results of one case and of HIP's own call beside it, sizes ascending; either may be empty.
struct case_pair {
  std::string name;  ///< without "raw/"
  std::vector<case_result const*> library;
  std::vector<case_result const*> raw;
};

/// The measured cases with data that arrived whole, in the order of the run.
std::vector<case_pair> pairs_of(document const& of);

/// What is to be said before anything else: figures that mean nothing, data that is wrong.
std::vector<std::string> warnings_of(document const& of);

/// Rates of cases and their shares of the limit, at the largest size of each.
std::vector<bar_row> efficiency_rows(std::vector<case_pair> const& pairs);

std::string efficiency_part(std::vector<case_pair> const& pairs);
std::string sizes_part(std::vector<case_pair> const& pairs);
std::string times_part(std::vector<case_pair> const& pairs);
std::string changes_part(comparison const& since);
std::string figures_part(document const& of);
std::string environment_part(document const& of);

}  // namespace rocbench
