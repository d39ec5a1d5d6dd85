// SPDX-License-Identifier: MIT
// Cases of strided copies and of permutations of axes.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends strided/*, raw/strided/* and permute/*.
void add_strided_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
