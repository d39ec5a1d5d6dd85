// SPDX-License-Identifier: MIT
// Cases that time allocation and deallocation.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends alloc/* and raw/alloc/*.
void add_alloc_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
