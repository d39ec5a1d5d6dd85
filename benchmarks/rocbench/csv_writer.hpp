// SPDX-License-Identifier: MIT
// Writes results as CSV (RFC 4180): a header line, then one line per case.
#pragma once

#include <string>

#include "benchmark_run.hpp"

namespace rocbench {

/// Returns the run as CSV. Rates are bytes per second, times are seconds, unknown values are empty.
std::string to_csv(benchmark_run const& run);

}  // namespace rocbench
