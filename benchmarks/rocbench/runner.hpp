// SPDX-License-Identifier: MIT
// Measures many cases, in turns.
#pragma once

#include <functional>
#include <vector>

#include "case_result.hpp"
#include "cases.hpp"
#include "limits.hpp"
#include "measure.hpp"

namespace rocbench {

struct job {
  benchmark_case of;
  extent_request asked;
};

/// Calls `report` with the result of each job, in their order: during the last round, or, from the
/// first job on that gets further turns, behind these. A job that fails or is not possible is told
/// and not tried again; the others go on. After an interrupt, with what there is: jobs without a
/// sample are left out.
void run_jobs(std::vector<job> const& jobs, measure_options const& options, limits const& known,
              std::function<void(case_result const&)> const& report);

}  // namespace rocbench
