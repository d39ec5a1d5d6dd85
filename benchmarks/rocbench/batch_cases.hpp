// SPDX-License-Identifier: MIT
// Cases of many small copies submitted together.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends batch/*, raw/batch/* and raw/batch_call/*.
void add_batch_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
