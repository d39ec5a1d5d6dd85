// SPDX-License-Identifier: MIT
// A complete run: what result files contain, and what is compared and drawn. Order statistics of
// samples; rates of a link are not normally distributed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmark_case.hpp"
#include "machine.hpp"

namespace rocbench {

// ---- Statistics ----

struct interval {
  double low;
  double high;
};

/// Returns the p-th quantile with linear interpolation between samples.
/// @param sorted samples in ascending order, not empty
/// @param p from 0 to 1
inline double quantile(std::span<double const> sorted, double p) {
  double const position = p * static_cast<double>(sorted.size() - 1);
  auto const below = static_cast<std::size_t>(position);
  std::size_t const above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

/// Returns the number of samples outside the 95 % confidence interval of the median, at each end.
/// The interval is exact (binomial): its confidence is at least 95 %. Precondition: `count` is at
/// least 6; fewer samples have no such interval.
inline std::size_t median_interval_cut(std::size_t count) {
  // The number of samples below the median is binomially distributed with p = 0.5. The median is
  // above the k smallest samples as long as at most k samples are below it with no more than the
  // tail's probability.
  constexpr double tail_probability = 0.025;  // at each end
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

/// The statistics of a set of samples.
struct summary {
  static constexpr std::size_t min_count_for_interval = 6;

  std::size_t count = 0;
  double median = 0;
  double p5 = 0;
  double p95 = 0;
  interval median_interval{};  ///< 95 % confidence; unbounded below 6 samples

  /// Returns the width of median_interval divided by the median; infinite below 6 samples.
  double relative_width() const {
    if (count < min_count_for_interval) return std::numeric_limits<double>::infinity();
    return (median_interval.high - median_interval.low) / median;
  }
};

/// Computes the statistics. Precondition: `samples` is not empty.
inline summary summarize(std::vector<double> samples) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::ranges::sort(samples);
  std::size_t const count = samples.size();
  summary result{count,
                 quantile(samples, 0.5),
                 quantile(samples, 0.05),
                 quantile(samples, 0.95),
                 {-infinity, infinity}};
  if (count >= summary::min_count_for_interval) {
    std::size_t const cut = median_interval_cut(count);
    result.median_interval = {samples[cut], samples[count - 1 - cut]};
  }
  return result;
}

/// The times of a loop as BabelStream reports them, in seconds.
struct loop_times {
  double min;
  double max;
  double mean;
};

/// Returns the times without the first execution, which includes lazy initialization, unless it is
/// the only one. Precondition: `seconds` is not empty.
inline loop_times summarize_loop(std::span<double const> seconds) {
  auto const counted = seconds.size() == 1 ? seconds : seconds.subspan(1);
  auto const [min, max] = std::ranges::minmax(counted);
  double const sum = std::accumulate(counted.begin(), counted.end(), 0.0);
  return {min, max, sum / static_cast<double>(counted.size())};
}

// ---- Results ----

/// The statistics of a case.
struct measurement {
  summary rate;            ///< bytes per second
  summary seconds;         ///< of one execution
  double cpu_seconds = 0;  ///< CPU time of the process per execution
  std::size_t executions = 0;
  std::size_t batch = 0;
  bool noisy = false;  ///< true: the median was not precise when the time was over
  double elapsed = 0;  ///< seconds of sampling
  std::optional<std::string> mismatch = {};
  std::optional<loop_times> loop = {};  ///< set if the fastest execution is reported
  double loop_rate = 0;                 ///< bytes per second of the fastest execution
  std::vector<device_rate> devices =
      {};  ///< medians of each device; empty unless there are several

  /// Returns the rate that tables show: of the median, or of the fastest execution.
  double reported_rate() const { return loop ? loop_rate : rate.median; }
  double reported_seconds() const { return loop ? loop->min : seconds.median; }
};

enum class outcome : unsigned char {
  measured,  ///< has samples; if measured.mismatch is set, the data was wrong
  skipped,   ///< this device does not support the case
  failed,    ///< an error ended the case
};

/// The result of one case at one size.
struct case_result {
  std::string name;
  std::size_t bytes = 0;  ///< payload
  accounting counted = accounting::payload;
  std::string path = {};
  rate_limit physical_limit = {};
  outcome status = outcome::measured;
  std::string reason = {};  ///< why the case was skipped or failed
  measurement measured = {};
  std::optional<device_pair> devices = {};  ///< set if the case belongs to a matrix of devices
  double bus_factor = 0;  ///< bus bandwidth divided by the rate; 0 if the case has none

  /// Returns the rate at which the links between the devices are used, as NCCL's tests define it;
  /// empty if the case was not measured or has no such rate.
  std::optional<double> bus_bandwidth() const {
    if (status != outcome::measured || bus_factor <= 0) return std::nullopt;
    return bus_factor * measured.reported_rate();
  }
  /// Returns the reported rate divided by the physical limit; empty if the case was not measured
  /// or the limit is unknown.
  std::optional<double> efficiency() const {
    if (status != outcome::measured || !physical_limit.rate) return std::nullopt;
    return measured.reported_rate() / *physical_limit.rate;
  }
};

struct benchmark_run {
  run_environment environment;
  machine_limits limits;
  std::vector<case_result> results;
};

}  // namespace rocbench
