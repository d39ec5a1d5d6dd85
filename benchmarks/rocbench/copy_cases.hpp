// SPDX-License-Identifier: MIT
// Cases of contiguous copies, one way and both ways at once.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends h2d/*, d2h/*, d2d/copy and their raw counterparts.
void add_copy_cases(std::vector<benchmark_case>& cases);

/// Appends bidir/* and raw/bidir/*.
void add_bidirectional_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
