// SPDX-License-Identifier: MIT
// The efficiency bars of a run as an SVG picture.
#pragma once

#include <string>

#include "benchmark_run.hpp"

namespace rocbench {

/// Returns an SVG file without external resources. It follows the reader's light or dark color
/// scheme. Empty if the run has no rates.
std::string svg_report(benchmark_run const& run);

}  // namespace rocbench
