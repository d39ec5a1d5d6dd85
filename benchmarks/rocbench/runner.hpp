// SPDX-License-Identifier: MIT
// Measures a list of jobs in rounds, so that the cases take turns, and shows the progress.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "benchmark_case.hpp"
#include "case_result.hpp"
#include "machine_limits.hpp"
#include "measure.hpp"

namespace rocbench {

/// A case with the sizes to measure it with.
struct job {
  benchmark_case benchmark;
  case_parameters parameters;
};

/// Measures all jobs and calls `report` once per job, in their order. A result is reported during
/// the last planned round, or after the extra rounds if the job or one before it needs them. A job
/// that fails or is not supported is not tried again; the others continue. After an interrupt the
/// remaining results are reported; jobs without a sample are left out. If standard error is a
/// terminal, its last line shows the current case and the time left.
void run_jobs(std::vector<job> const& jobs, measure_options const& options,
              machine_limits const& limits, std::function<void(case_result const&)> const& report);

/// Returns the line that shows the progress, cut to the width of the terminal. The time left is
/// that of the cases so far, in proportion.
/// @param begun number of the current case, counted from 1
/// @param elapsed seconds since the first case began
std::string progress_line(std::size_t begun, std::size_t total, std::string const& case_name,
                          double elapsed, std::size_t columns);

}  // namespace rocbench
