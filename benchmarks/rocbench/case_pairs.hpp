// SPDX-License-Identifier: MIT
// The results of a run, with each library case paired with its raw counterpart.
#pragma once

#include <string>
#include <vector>

#include "benchmark_run.hpp"

namespace rocbench {

/// The results of a case and of its raw counterpart, by ascending size. One of them may be empty.
struct case_pair {
  std::string name;  ///< without "raw/"
  std::vector<case_result const*> library;
  std::vector<case_result const*> raw;
};

/// Returns the measured cases without wrong data, in the order of the run. The result points into
/// `run`.
std::vector<case_pair> pair_cases(benchmark_run const& run);

}  // namespace rocbench
