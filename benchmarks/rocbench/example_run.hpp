// SPDX-License-Identifier: MIT
// Example results for the tests of result files, comparisons and reports.
#pragma once

#include <string>

#include "benchmark_run.hpp"

namespace rocbench {

/// Returns a measured case. The confidence interval of the median extends by the fraction `width`
/// of the median to both sides.
case_result example_result(std::string const& name, std::size_t bytes, double rate,
                           double width = 0.002);

/// Returns a run on a device with known limits: one correct case, one with wrong data, one skipped
/// and one failed.
benchmark_run example_run();

}  // namespace rocbench
