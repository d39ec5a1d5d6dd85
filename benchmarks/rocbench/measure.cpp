// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <time.h>

#include <roc/event.hpp>

#include "interrupt.hpp"

namespace rocbench {
namespace {

// Seconds. Below one thousandth the clocks' own error shows; and the first execution of a sample
// finds the caches as those left them who wrote the pattern: a device that reads what is dirty there
// is slower, and one copy of 64 MiB by itself would be all of a sample.
constexpr double shortest_batch = 10e-3;
constexpr std::size_t fewest_samples = 10;
constexpr double wanted_width = 0.005;
// The intervals of two runs then fit into 2 % either way, with room for the medians to differ.
constexpr double comparable_width = 0.01;
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
  batch_timer(experiment& subject, bool each_waited_for)
      : subject_(subject), each_waited_for_(each_waited_for) {}

  double operator()(std::size_t times) {
    bool const by_host = each_waited_for_ || subject_.timed_by() == timing::wall_clock;
    return std::max(by_host ? by_wall_clock(times) : by_device_events(times), clock_resolution);
  }

 private:
  double by_wall_clock(std::size_t times) {
    stopwatch const watch;
    subject_.run(times);
    if (each_waited_for_) subject_.stream().synchronize();
    return watch.seconds();
  }

  double by_device_events(std::size_t times) {
    if (!events_) events_.emplace();
    events_->begin.record(subject_.stream());
    subject_.run(times);
    events_->end.record(subject_.stream());
    events_->end.synchronize();
    return events_->begin.elapsed_time(events_->end) * 1e-3;
  }

  struct event_pair {
    roc::timed_event begin;
    roc::timed_event end;
  };

  experiment& subject_;
  bool each_waited_for_;
  std::optional<event_pair> events_;  // made where they are needed: they need a device
};

// Warms up, and finds how many executions are long enough together. The faster of two times
// counts: the first one of all pays for what is made on first use.
std::size_t find_batch(batch_timer& time, std::size_t largest) {
  std::size_t batch = 1;
  for (;;) {
    double const first = time(batch);
    double const seconds = std::min(first, time(batch));
    if (seconds >= shortest_batch || batch == largest) return batch;
    double const factor = std::clamp(1.25 * shortest_batch / seconds, 1.25, 8.0);
    auto const next = static_cast<std::size_t>(std::ceil(static_cast<double>(batch) * factor));
    batch = std::min(next, largest);
  }
}

bool agree(summary const& of) {
  return of.count >= fewest_samples && of.relative_width() < wanted_width;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

void take_samples(experiment& subject, measure_options const& options, samples& into) {
  batch_timer time(subject, options.fixed && options.fixed->each_waited_for);
  std::uint64_t sample = into.seconds.size();  // another pattern in every round
  subject.prepare(sample);
  if (options.fixed) {
    into.fixed = true;
    into.by_least_time = options.fixed->by_least_time;
    into.batch = std::min(options.fixed->batch, subject.most_at_once());
    if (options.fixed->warm_ups != 0) time(options.fixed->warm_ups);
  } else {
    // Without time the bytes alone are asked for.
    into.batch = options.max_time > 0 ? find_batch(time, subject.most_at_once()) : 1;
  }

  stopwatch const watch;
  double const before = into.spent;
  double const share = 1.0 / options.rounds;
  std::size_t const count = into.seconds.size();
  std::size_t next_look = count + (fewest_samples + options.rounds - 1) / options.rounds;
  for (;;) {
    subject.prepare(++sample);
    double const cpu = cpu_seconds();
    into.seconds.push_back(time(into.batch) / static_cast<double>(into.batch));
    into.cpu_seconds += cpu_seconds() - cpu;
    into.executions += into.batch;
    into.mismatch = subject.check(sample, options.inject);
    double const seconds = watch.seconds();
    into.spent = before + seconds;
    if (into.mismatch || interrupted()) break;
    if (options.fixed) {
      if (into.seconds.size() >= options.fixed->samples) break;
      continue;
    }
    if (seconds >= share * options.max_time) break;
    if (into.seconds.size() < next_look || seconds < share * options.min_time) continue;
    if (into.seconds.size() < fewest_samples || agree(summarise(into.seconds))) break;
    // Sorting at every sample would take longer than some samples do.
    next_look = into.seconds.size() + std::max(into.seconds.size() / 16, std::size_t{1});
  }
}

bool comparable(samples const& taken) {
  if (taken.fixed) return true;
  return taken.seconds.size() >= fewest_samples &&
         summarise(taken.seconds).relative_width() <= comparable_width;
}

measurement conclude(samples const& taken, std::size_t counted_bytes) {
  measurement result;
  std::vector<double> rates(taken.seconds);
  for (double& each : rates) each = static_cast<double>(counted_bytes) / each;
  result.rate = summarise(std::move(rates));
  result.seconds = summarise(taken.seconds);
  result.cpu_seconds = taken.cpu_seconds / static_cast<double>(taken.executions);
  result.executions = taken.executions;
  result.batch = taken.batch;
  result.noisy = !taken.fixed && !agree(result.seconds);
  result.spent = taken.spent;
  result.mismatch = taken.mismatch;
  if (taken.by_least_time) {
    result.loop = summarise_loop(taken.seconds);
    result.loop_rate = static_cast<double>(counted_bytes) / result.loop->least;
  }
  return result;
}

}  // namespace rocbench
