// SPDX-License-Identifier: MIT
// The warnings at the top of reports.
#pragma once

#include <string>
#include <vector>

#include "benchmark_run.hpp"

namespace rocbench {

/// Returns a warning if the device was not a GPU, and one for each case with wrong data.
std::vector<std::string> report_warnings(benchmark_run const& run);

}  // namespace rocbench
