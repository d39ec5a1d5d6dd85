// SPDX-License-Identifier: MIT
// A run, or the changes between two, as an HTML page or an SVG picture, and the command `report`.
// Both are without scripts and external resources and follow the reader's light or dark scheme.
#pragma once

#include <string>

#include "benchmark_run.hpp"
#include "format.hpp"

namespace rocbench {

/// Returns a page: verdict, efficiency, rates over size, latency and allocation, all figures, and
/// the machine. If `before` is not null, the verdict is that of `compare`, and the changes since
/// that run come first.
std::string html_report(benchmark_run const& run, benchmark_run const* before = nullptr);

/// Returns a picture of the efficiency bars. Empty if the run has no rate with a known limit.
std::string svg_report(benchmark_run const& run);

struct report_options {
  std::string results;  ///< result file of --json
  std::string later;    ///< result file of a later run to compare with; empty: none
  std::string output;   ///< file to write; "-" is standard output, *.svg selects a picture
};

/// Writes a page, or a picture of one run. Returns `usage` if a picture of two runs is requested,
/// or of a run without rates. Throws file_error.
exit_code report(report_options const& options);

}  // namespace rocbench
