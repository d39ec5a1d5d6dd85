// SPDX-License-Identifier: MIT
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace rocbench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tail_probability = 0.025;  // at each end
constexpr std::size_t min_samples_for_interval = 6;

}  // namespace

double quantile(std::span<double const> sorted, double p) {
  double const position = p * static_cast<double>(sorted.size() - 1);
  auto const below = static_cast<std::size_t>(position);
  std::size_t const above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

std::size_t median_interval_cut(std::size_t count) {
  // The number of samples below the median is binomially distributed with p = 0.5. The median is
  // above the k smallest samples as long as at most k samples are below it with no more than the
  // tail's probability.
  auto const n = static_cast<double>(count);
  double cumulative = 0;
  for (std::size_t k = 0; 2 * k < count; ++k) {
    auto const below = static_cast<double>(k);
    cumulative += std::exp(std::lgamma(n + 1) - std::lgamma(below + 1) -
                           std::lgamma(n - below + 1) - n * std::numbers::ln2);
    if (cumulative > tail_probability) return k == 0 ? 0 : k - 1;
  }
  return 0;
}

double summary::relative_width() const {
  if (count < min_samples_for_interval) return infinity;
  return (median_interval.high - median_interval.low) / median;
}

summary summarize(std::vector<double> samples) {
  std::ranges::sort(samples);
  summary result;
  result.count = samples.size();
  result.median = quantile(samples, 0.5);
  result.p5 = quantile(samples, 0.05);
  result.p95 = quantile(samples, 0.95);
  if (result.count < min_samples_for_interval) {
    result.median_interval = {-infinity, infinity};
  } else {
    std::size_t const cut = median_interval_cut(result.count);
    result.median_interval = {samples[cut], samples[result.count - 1 - cut]};
  }
  return result;
}

loop_times summarize_loop(std::span<double const> seconds) {
  auto const counted = seconds.size() == 1 ? seconds : seconds.subspan(1);
  auto const [min, max] = std::ranges::minmax(counted);
  double const sum = std::accumulate(counted.begin(), counted.end(), 0.0);
  return {min, max, sum / static_cast<double>(counted.size())};
}

}  // namespace rocbench
