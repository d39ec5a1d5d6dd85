// SPDX-License-Identifier: MIT
// What is said about a set of samples: order statistics only, as rates of a link are not normal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rocbench {

struct interval {
  double low;
  double high;
};

/// The p-th quantile, p in [0, 1], of samples in ascending order, between neighbours linearly.
/// Precondition: not empty.
double quantile(std::span<double const> sorted, double p);

/// How many samples lie outside the 95 % confidence interval of the median at each end: exact
/// (binomial), so that it is at least 95 %. Precondition: 6 samples, fewer have no such interval.
std::size_t median_interval_cut(std::size_t count);

/// What the table says about the samples of a case.
struct summary {
  std::size_t count = 0;
  double median = 0;
  double p5 = 0;
  double p95 = 0;
  interval median_interval{};  ///< 95 % confidence; from minus to plus infinity below 6 samples
  /// Width of that interval over the median; infinite below 6 samples.
  double relative_width() const;
};

/// Precondition: not empty.
summary summarise(std::vector<double> samples);

/// The times of a loop, as BabelStream sums them up.
struct loop_times {
  double least;
  double greatest;
  double mean;
};

/// Without the first one, which pays for what is made on first use, unless there is no other.
/// Precondition: not empty.
loop_times summarise_loop(std::span<double const> seconds);

}  // namespace rocbench
