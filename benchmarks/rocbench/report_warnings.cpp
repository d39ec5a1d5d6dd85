// SPDX-License-Identifier: MIT
#include "report_warnings.hpp"

namespace rocbench {

std::vector<std::string> report_warnings(benchmark_run const& run) {
  std::vector<std::string> warnings;
  if (run.environment.is_fake_runtime) {
    warnings.emplace_back(
        "Measured with the fake HIP runtime on the CPU: these figures are meaningless.");
  } else if (!run.environment.on_gpu) {
    warnings.emplace_back("Measured on the CPU: these are not figures of a GPU.");
  }
  for (case_result const& result : run.results) {
    if (result.measured.mismatch)
      warnings.push_back(result.name + ": " + *result.measured.mismatch);
  }
  return warnings;
}

}  // namespace rocbench
