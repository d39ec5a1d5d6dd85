// SPDX-License-Identifier: MIT
// Cases of BabelStream's kernels.
#pragma once

#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Appends stream/* and raw/stream/*.
void add_stream_cases(std::vector<benchmark_case>& cases);

}  // namespace rocbench
