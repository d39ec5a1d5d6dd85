// SPDX-License-Identifier: MIT
// Cases of small copies, each synchronized.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends latency/* and raw/latency/*.
void add_latency_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
