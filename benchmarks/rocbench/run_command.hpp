// SPDX-License-Identifier: MIT
// The commands that measure.
#pragma once

#include <vector>

#include <roc/device.hpp>

#include "cases.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace rocbench {

/// Measures what the command line asks for, prints the table and writes the files. Throws
/// roc::error, output_error.
exit_code run(options const& chosen, std::vector<benchmark_case> const& cases,
              roc::device const& device);

}  // namespace rocbench
