// SPDX-License-Identifier: MIT
// Measures one case: warm-up, batches, samples until they agree, every sample checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "experiment.hpp"
#include "statistics.hpp"

namespace rocbench {

struct measure_options {
  double min_time = 0.2;  ///< seconds for a case at least, the checks between samples included
  double max_time = 2;    ///< seconds for a case at most, but for its first sample
  bool inject = false;    ///< corrupts one byte before the check, which must then fail
};

struct measurement {
  summary rate;                         ///< bytes a second
  std::size_t batch = 0;                ///< executions timed together in a sample
  bool noisy = false;                   ///< the samples did not agree within max_time
  double seconds = 0;                   ///< spent on sampling
  std::optional<std::string> mismatch;  ///< what was wrong; measuring ended there
};

/// Samples until there are at least 10, min_time is over, and the 95 % confidence interval of the
/// median is narrower than 0.5 % of it; at most max_time. Throws roc::error.
measurement measure(experiment& subject, measure_options const& options);

}  // namespace rocbench
