// SPDX-License-Identifier: MIT
// The commands that measure: run, sweep, latency, alloc and check.
#pragma once

#include <vector>

#include <roc/device.hpp>

#include "benchmark_case.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"

namespace rocbench {

/// Measures the cases, prints the table and writes the result files. Precondition: `device` is
/// current. Throws roc::error, output_error.
exit_code run(command_line const& options, std::vector<benchmark_case> const& cases,
              roc::device const& device);

}  // namespace rocbench
