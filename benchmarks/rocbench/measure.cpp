// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <signal.h>
#include <time.h>

#include <roc/event.hpp>

namespace rocbench {
namespace {

// Minimal seconds per sample. Below 1 ms the error of the clocks shows. Besides, the first
// execution of a sample finds the caches as the writing of the pattern left them: a device that
// reads dirty lines is slower, and a single copy of 64 MiB would be a whole sample.
constexpr double min_batch_seconds = 10e-3;
constexpr std::size_t min_samples = 10;
constexpr double target_width = 0.005;
// Two runs with such intervals can be told apart at a tolerance of 2 %, even if their medians
// differ slightly.
constexpr double precise_width = 0.01;
constexpr double clock_resolution = 1e-9;

class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Measures the time of a number of executions, in seconds.
class batch_timer {
 public:
  batch_timer(experiment& subject, bool synchronize_each)
      : subject_(subject), synchronize_each_(synchronize_each) {}

  double operator()(std::size_t times) {
    bool const by_host =
        synchronize_each_ || subject_.properties().timing == timing_method::wall_clock;
    return std::max(by_host ? by_wall_clock(times) : by_device_events(times), clock_resolution);
  }

 private:
  double by_wall_clock(std::size_t times) {
    stopwatch const elapsed_time;
    subject_.run(times);
    if (synchronize_each_) subject_.stream().synchronize();
    return elapsed_time.seconds();
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
  bool synchronize_each_;
  std::optional<event_pair> events_;  // created on first use, because events need a device
};

// Warms up and returns the number of executions per sample. Of two measurements the shorter counts,
// because the very first includes lazy initialization.
std::size_t find_batch(batch_timer& time, std::size_t max_batch) {
  std::size_t batch = 1;
  for (;;) {
    double const first_seconds = time(batch);
    double const seconds = std::min(first_seconds, time(batch));
    if (seconds >= min_batch_seconds || batch == max_batch) return batch;
    double const factor = std::clamp(1.25 * min_batch_seconds / seconds, 1.25, 8.0);
    auto const larger = static_cast<std::size_t>(std::ceil(static_cast<double>(batch) * factor));
    batch = std::min(larger, max_batch);
  }
}

bool is_precise(summary const& seconds) {
  return seconds.count >= min_samples && seconds.relative_width() < target_width;
}

std::atomic<bool> signal_received{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { signal_received = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return signal_received; }

void take_samples(experiment& subject, measure_options const& options, sample_set& samples) {
  batch_timer time(subject, options.fixed && options.fixed->synchronize_each);
  std::uint64_t sample = samples.seconds.size();  // each round continues with new patterns
  subject.prepare(sample);
  if (options.fixed) {
    samples.fixed = true;
    samples.report_fastest = options.fixed->report_fastest;
    samples.batch = std::min(options.fixed->batch, subject.properties().max_batch);
    if (options.fixed->warm_ups != 0) time(options.fixed->warm_ups);
  } else {
    // With max_time 0, one execution is measured, only to verify its data.
    samples.batch = options.max_time > 0 ? find_batch(time, subject.properties().max_batch) : 1;
  }

  stopwatch const elapsed_time;
  double const elapsed_before = samples.elapsed;
  double const fraction = 1.0 / options.rounds;
  std::size_t const count = samples.seconds.size();
  std::size_t next_check = count + (min_samples + options.rounds - 1) / options.rounds;
  for (;;) {
    subject.prepare(++sample);
    double const cpu = cpu_seconds();
    samples.seconds.push_back(time(samples.batch) / static_cast<double>(samples.batch));
    samples.cpu_seconds += cpu_seconds() - cpu;
    samples.executions += samples.batch;
    samples.mismatch = subject.check(sample, options.inject);
    double const seconds = elapsed_time.seconds();
    samples.elapsed = elapsed_before + seconds;
    if (samples.mismatch || interrupted()) break;
    if (options.fixed) {
      if (samples.seconds.size() >= options.fixed->samples) break;
      continue;
    }
    if (seconds >= fraction * options.max_time) break;
    if (samples.seconds.size() < next_check || seconds < fraction * options.min_time) continue;
    if (samples.seconds.size() < min_samples || is_precise(summarize(samples.seconds))) break;
    // Sorting after every sample would take longer than some samples.
    next_check = samples.seconds.size() + std::max(samples.seconds.size() / 16, std::size_t{1});
  }
}

bool has_precise_median(sample_set const& samples) {
  if (samples.fixed) return true;
  return samples.seconds.size() >= min_samples &&
         summarize(samples.seconds).relative_width() <= precise_width;
}

measurement to_measurement(sample_set const& samples, std::size_t counted_bytes) {
  measurement result;
  std::vector<double> rates(samples.seconds);
  for (double& rate : rates) rate = static_cast<double>(counted_bytes) / rate;
  result.rate = summarize(std::move(rates));
  result.seconds = summarize(samples.seconds);
  result.cpu_seconds = samples.cpu_seconds / static_cast<double>(samples.executions);
  result.executions = samples.executions;
  result.batch = samples.batch;
  result.noisy = !samples.fixed && !is_precise(result.seconds);
  result.elapsed = samples.elapsed;
  result.mismatch = samples.mismatch;
  if (samples.report_fastest) {
    result.loop = summarize_loop(samples.seconds);
    result.loop_rate = static_cast<double>(counted_bytes) / result.loop->min;
  }
  return result;
}

}  // namespace rocbench
