// SPDX-License-Identifier: MIT
// Cases of fills of device memory.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends fill/* and raw/fill/*.
void add_fill_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
