// SPDX-License-Identifier: MIT
// A run, or the changes between two runs, as one HTML page.
#pragma once

#include <optional>
#include <string>

#include "benchmark_run.hpp"

namespace rocbench {

/// Returns a page without external resources: efficiency, rates over size, latency and allocation,
/// all figures, and the environment. If `before` is given, the changes since that run come first.
std::string html_report(benchmark_run const& run, std::optional<benchmark_run> const& before = {});

}  // namespace rocbench
