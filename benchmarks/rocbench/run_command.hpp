// SPDX-License-Identifier: MIT
// The commands that measure.
#pragma once

#include <vector>

#include "cases.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace rocbench {

/// Measures the cases at each size and prints the table. Throws roc::error.
exit_code run(options const& chosen, std::vector<benchmark_case> const& cases);

}  // namespace rocbench
