// SPDX-License-Identifier: MIT
// Order statistics of samples; rates of a link are not normally distributed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rocbench {

struct interval {
  double low;
  double high;
};

/// Returns the p-th quantile with linear interpolation between samples.
/// @param sorted samples in ascending order, not empty
/// @param p from 0 to 1
double quantile(std::span<double const> sorted, double p);

/// Returns the number of samples outside the 95 % confidence interval of the median, at each end.
/// The interval is exact (binomial): its confidence is at least 95 %. Precondition: `count` is at
/// least 6; fewer samples have no such interval.
std::size_t median_interval_cut(std::size_t count);

/// The statistics of a set of samples.
struct summary {
  std::size_t count = 0;
  double median = 0;
  double p5 = 0;
  double p95 = 0;
  interval median_interval{};  ///< 95 % confidence; unbounded below 6 samples
  /// Returns the width of median_interval divided by the median; infinite below 6 samples.
  double relative_width() const;
};

/// Computes the statistics. Precondition: `samples` is not empty.
summary summarize(std::vector<double> samples);

/// The times of a loop as BabelStream reports them, in seconds.
struct loop_times {
  double min;
  double max;
  double mean;
};

/// Returns the times without the first execution, which includes lazy initialization, unless it is
/// the only one. Precondition: `seconds` is not empty.
loop_times summarize_loop(std::span<double const> seconds);

}  // namespace rocbench
