// SPDX-License-Identifier: MIT
// Writes results as JSON: a superset of Google Benchmark's format 1, which its compare tool reads.
#pragma once

#include <string>

#include "benchmark_run.hpp"

namespace rocbench {

/// Returns the run as JSON. Rates are bytes per second and times seconds unless the key names
/// another unit. Unknown values are null. Fields that Google Benchmark does not have are in an
/// object `rocbench` of the context and of each benchmark.
std::string to_json(benchmark_run const& run);

}  // namespace rocbench
