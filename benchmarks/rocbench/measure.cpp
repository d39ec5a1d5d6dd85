// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <roc/event.hpp>

namespace rocbench {
namespace {

constexpr double shortest_batch = 1e-3;  // seconds: below it the clocks' own error shows
constexpr std::size_t largest_batch = 1 << 16;
constexpr std::size_t fewest_samples = 10;
constexpr double wanted_width = 0.005;
constexpr double clock_resolution = 1e-9;

class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Seconds that executions take together.
class batch_timer {
 public:
  explicit batch_timer(experiment& subject) : subject_(subject) {}

  double operator()(std::size_t times) {
    return std::max(
        subject_.timed_by() == timing::wall_clock ? by_wall_clock(times) : by_device_events(times),
        clock_resolution);
  }

 private:
  double by_wall_clock(std::size_t times) {
    stopwatch const watch;
    subject_.run(times);
    return watch.seconds();
  }

  double by_device_events(std::size_t times) {
    begin_.record(subject_.stream());
    subject_.run(times);
    end_.record(subject_.stream());
    end_.synchronize();
    return begin_.elapsed_time(end_) * 1e-3;
  }

  experiment& subject_;
  roc::timed_event begin_;
  roc::timed_event end_;
};

// Warms up, and finds how many executions are long enough together. The faster of two times
// counts: the first one of all pays for what is made on first use.
std::size_t find_batch(batch_timer& time) {
  std::size_t batch = 1;
  for (;;) {
    double const first = time(batch);
    double const seconds = std::min(first, time(batch));
    if (seconds >= shortest_batch || batch == largest_batch) return batch;
    double const factor = std::clamp(1.25 * shortest_batch / seconds, 1.25, 8.0);
    auto const next = static_cast<std::size_t>(std::ceil(static_cast<double>(batch) * factor));
    batch = std::min(next, largest_batch);
  }
}

bool agree(summary const& rate) {
  return rate.count >= fewest_samples && rate.relative_width() < wanted_width;
}

}  // namespace

measurement measure(experiment& subject, measure_options const& options) {
  batch_timer time(subject);
  std::uint64_t sample = 0;
  subject.prepare(sample);
  measurement result;
  result.batch = find_batch(time);

  stopwatch const watch;
  std::vector<double> rates;
  double const counted =
      static_cast<double>(subject.counted_bytes()) * static_cast<double>(result.batch);
  std::size_t next_look = fewest_samples;
  for (;;) {
    subject.prepare(++sample);
    rates.push_back(counted / time(result.batch));
    result.mismatch = subject.check(sample, options.inject);
    result.seconds = watch.seconds();
    if (result.mismatch || result.seconds >= options.max_time) break;
    if (rates.size() < next_look || result.seconds < options.min_time) continue;
    if (agree(summarise(rates))) break;
    // Sorting at every sample would take longer than some samples do.
    next_look = rates.size() + std::max(rates.size() / 16, std::size_t{1});
  }
  result.rate = summarise(std::move(rates));
  result.noisy = !agree(result.rate);
  return result;
}

}  // namespace rocbench
