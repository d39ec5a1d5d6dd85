// SPDX-License-Identifier: MIT
// The report's charts of rates over size, and its tables of figures and of the environment.
#pragma once

#include <string>
#include <vector>

#include "case_pairs.hpp"

namespace rocbench {

/// Return HTML; empty if there is nothing to show.
std::string size_charts(std::vector<case_pair> const& pairs);
std::string figures_table(benchmark_run const& run);
std::string environment_table(benchmark_run const& run);

}  // namespace rocbench
