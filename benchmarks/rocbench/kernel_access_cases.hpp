// SPDX-License-Identifier: MIT
// Cases of mapped and managed memory.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends mapped/*, managed/* and their raw counterparts.
void add_kernel_access_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
