// SPDX-License-Identifier: MIT
// A complete run: what result files contain, and what is compared and drawn.
#pragma once

#include <vector>

#include "case_result.hpp"
#include "machine_limits.hpp"
#include "run_environment.hpp"

namespace rocbench {

struct benchmark_run {
  run_environment environment;
  machine_limits limits;
  std::vector<case_result> results;
};

}  // namespace rocbench
