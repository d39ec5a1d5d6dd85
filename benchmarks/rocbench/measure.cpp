// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <roc/event.hpp>

#include "result_table.hpp"
#include "stopwatch.hpp"

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

// Returns the time of a number of executions, in seconds.
double time_of(experiment& subject, std::size_t times, bool synchronize_each) {
  roc::stream_ref const stream = subject.stream();
  timing_method const timing = subject.properties().timing;
  double seconds = 0;
  if (timing == timing_method::own_clock) {
    subject.run(times);
    seconds = subject.timed_seconds();
  } else if (synchronize_each || timing == timing_method::wall_clock) {
    stopwatch const elapsed_time;
    subject.run(times);
    if (synchronize_each) stream.synchronize();
    seconds = elapsed_time.seconds();
  } else {
    roc::timed_event begin;
    roc::timed_event end;
    begin.record(stream);
    subject.run(times);
    end.record(stream);
    end.synchronize();
    seconds = begin.elapsed_time(end) * 1e-3;
  }
  return std::max(seconds, clock_resolution);
}

// Warms up and returns the number of executions per sample.
std::size_t batch_of(experiment& subject) {
  // What an experiment with its own clock does not time takes time too.
  bool const takes_longer = subject.properties().timing == timing_method::own_clock;
  return find_batch(subject.properties().max_batch, min_batch_seconds, [&](std::size_t batch) {
    stopwatch const elapsed_time;
    double const seconds = time_of(subject, batch, false);
    return takes_longer ? elapsed_time.seconds() : seconds;
  });
}

// Adds the rate of each device during the last run to the samples.
void add_device_rates(experiment const& subject, sample_set& samples) {
  auto const rates = subject.device_rates();
  samples.device_rates.resize(rates.size());
  samples.devices.resize(rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    samples.devices[i] = rates[i].device;
    samples.device_rates[i].push_back(rates[i].rate);
  }
}

bool is_precise(summary const& seconds, double width) {
  return seconds.count >= min_samples && seconds.relative_width() <= width;
}

std::atomic<bool> signal_received{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

rate_limit scaled(rate_limit limit, double factor) {
  if (limit.rate) *limit.rate *= factor;
  return limit;
}

}  // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { signal_received = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // no output is lost
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return signal_received; }

std::size_t find_batch(std::size_t max_batch, double min_seconds,
                       std::function<double(std::size_t batch)> const& seconds_of) {
  for (std::size_t batch = 1;;) {
    double const first_seconds = seconds_of(batch);
    double const seconds = std::min(first_seconds, seconds_of(batch));
    if (seconds >= min_seconds || batch == max_batch) return batch;
    double const factor = std::clamp(1.25 * min_seconds / seconds, 1.25, 8.0);
    auto const larger = static_cast<std::size_t>(std::ceil(static_cast<double>(batch) * factor));
    batch = std::min(larger, max_batch);
  }
}

void take_samples(experiment& subject, measure_options const& options, sample_set& samples) {
  std::uint64_t sample = samples.seconds.size();  // each round continues with new patterns
  bool const synchronize_each = options.fixed && options.fixed->synchronize_each;
  subject.prepare(sample);
  if (options.fixed) {
    samples.fixed = true;
    samples.report_fastest = options.fixed->report_fastest;
    samples.batch = std::min(options.fixed->batch, subject.properties().max_batch);
    if (options.fixed->warm_ups != 0) time_of(subject, options.fixed->warm_ups, synchronize_each);
  } else {
    // With max_time 0, one execution is measured, only to verify its data.
    samples.batch = options.max_time > 0 ? batch_of(subject) : 1;
  }

  stopwatch const elapsed_time;
  double const elapsed_before = samples.elapsed;
  double const fraction = 1.0 / options.rounds;
  std::size_t const count = samples.seconds.size();
  std::size_t next_check = count + (min_samples + options.rounds - 1) / options.rounds;
  for (;;) {
    subject.prepare(++sample);
    std::clock_t const cpu_clock = std::clock();
    double const time = time_of(subject, samples.batch, synchronize_each);
    samples.cpu_seconds += static_cast<double>(std::clock() - cpu_clock) / CLOCKS_PER_SEC;
    samples.seconds.push_back(time / static_cast<double>(samples.batch));
    samples.executions += samples.batch;
    add_device_rates(subject, samples);
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
    if (samples.seconds.size() < min_samples ||
        is_precise(summarize(samples.seconds), target_width))
      break;
    // Sorting after every sample would take longer than some samples.
    next_check = samples.seconds.size() + std::max(samples.seconds.size() / 16, std::size_t{1});
  }
}

bool has_precise_median(sample_set const& samples) {
  if (samples.fixed) return true;
  return samples.seconds.size() >= min_samples &&
         is_precise(summarize(samples.seconds), precise_width);
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
  result.noisy = !samples.fixed && !is_precise(result.seconds, target_width);
  result.elapsed = samples.elapsed;
  result.mismatch = samples.mismatch;
  for (std::size_t i = 0; i < samples.devices.size(); ++i)
    result.devices.push_back({samples.devices[i], summarize(samples.device_rates[i]).median});
  if (samples.report_fastest) {
    result.loop = summarize_loop(samples.seconds);
    result.loop_rate = static_cast<double>(counted_bytes) / result.loop->min;
  }
  return result;
}

namespace {

// The last line of a terminal on standard error. It is overwritten by the next one, and erased
// before results are printed. Prints nothing if standard error is no terminal.
class status_line {
 public:
  status_line() : columns_(isatty(STDERR_FILENO) == 1 ? terminal::of(stderr).columns : 0) {}
  ~status_line() { clear(); }
  status_line(status_line const&) = delete;
  status_line& operator=(status_line const&) = delete;

  std::size_t columns() const { return columns_; }
  void show(std::string const& text) {
    if (columns_ == 0) return;
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
  }
  void clear() { show(""); }

 private:
  std::size_t columns_;  // 0: no terminal
};

struct case_state {
  case_result result;
  sample_set samples = {};
  std::size_t counted_bytes = 0;
  bool finished = false;  // skipped, failed or wrong data: not measured again

  // Returns true if the case needs no extra rounds.
  bool is_complete() const { return finished || has_precise_median(samples); }
  void end_unmeasured(outcome status, char const* reason) {
    result.status = status;
    result.reason = reason;
    finished = true;
  }
};

void measure_round(job const& entry, measure_options const& options, case_state& state) {
  try {
    auto const subject = entry.benchmark.make_experiment(entry.parameters);
    state.result.bytes = subject->properties().bytes;
    state.result.path = subject->properties().path;
    state.counted_bytes = subject->properties().counted_bytes;
    take_samples(*subject, options, state.samples);
    state.finished = state.samples.mismatch.has_value();
  } catch (case_not_supported const& reason) {
    state.end_unmeasured(outcome::skipped, reason.what());
  } catch (std::exception const& e) {
    state.end_unmeasured(outcome::failed, e.what());
  }
}

// The measurement of a list of jobs.
class job_runner {
 public:
  job_runner(std::vector<job> const& jobs, machine_limits const& limits,
             std::function<void(case_result const&)> const& report)
      : jobs_(jobs), report_(report) {
    for (auto const& [benchmark, parameters] : jobs) {
      states_.push_back({{.name = benchmark.name,
                          .bytes = parameters.bytes,
                          .counted = benchmark.counted,
                          .physical_limit = limit_of(benchmark, limits),
                          .devices = benchmark.devices,
                          .bus_factor = benchmark.bus_factor}});
    }
  }

  void run_planned_rounds(measure_options const& options) {
    std::size_t begun = 0;
    for (unsigned round = 1; round <= options.rounds && !interrupted(); ++round) {
      for (std::size_t i = 0; i < jobs_.size() && !interrupted(); ++i) {
        line_.show(progress_line(++begun, jobs_.size() * options.rounds, jobs_[i].benchmark.name,
                                 elapsed_time_.seconds(), line_.columns()));
        if (!states_[i].finished) measure_round(jobs_[i], options, states_[i]);
        if (round != options.rounds) continue;
        while (next_ <= i && (!options.extra || states_[next_].is_complete())) report_next();
      }
    }
  }

  // Precondition: options.extra is set.
  void run_extra_rounds(measure_options options) {
    extra_rounds const extra = *options.extra;
    options.min_time = 0;
    options.max_time = extra.time;
    options.rounds = 1;
    for (unsigned round = 1; round <= extra.max_rounds; ++round) {
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        double const left = extra.deadline - elapsed_time_.seconds();
        if (interrupted() || left <= 0) return;
        if (states_[i].is_complete()) continue;
        line_.show(fmt::format("{}: samples disagree, extra round; at most {:.0f} s left",
                               jobs_[i].benchmark.name, std::ceil(left))
                       .substr(0, line_.columns()));
        measure_round(jobs_[i], options, states_[i]);
      }
    }
  }

  // Reports the results that are still unreported after extra rounds or an interrupt.
  void report_rest() {
    while (next_ < states_.size()) report_next();
  }

 private:
  void report_next() {
    case_state& state = states_[next_++];
    if (state.result.status == outcome::measured) {
      if (state.samples.seconds.empty()) return;
      state.result.measured = to_measurement(state.samples, state.counted_bytes);
    }
    line_.clear();
    report_(state.result);
  }

  std::vector<job> const& jobs_;
  std::function<void(case_result const&)> const& report_;
  std::vector<case_state> states_;
  std::size_t next_ = 0;  // index of the next result to report
  status_line line_;
  stopwatch const elapsed_time_;
};

}  // namespace

rate_limit limit_of(benchmark_case const& benchmark, machine_limits const& limits) {
  if (benchmark.limited_by == limiting_resource::none) return {std::nullopt, "software"};
  if (benchmark.limited_by == limiting_resource::device_link) return {std::nullopt, "not measured"};
  if (limits.host_copy.rate) {
    // Source and destination are both in host memory. Work that only writes or only reads was not
    // measured.
    bool const writes_only = benchmark.limited_by == limiting_resource::device_memory &&
                             benchmark.counted == accounting::payload;
    if (writes_only || benchmark.limited_by == limiting_resource::device_memory_reads)
      return {std::nullopt, "not measured"};
    return scaled(limits.host_copy, benchmark.counted == accounting::traffic ? 2 : 1);
  }
  switch (benchmark.limited_by) {
    case limiting_resource::link: return limits.link;
    case limiting_resource::link_bidirectional: return scaled(limits.link, 2);
    case limiting_resource::device_memory:
    case limiting_resource::device_memory_reads: return limits.device_memory;
    case limiting_resource::device_link:
    case limiting_resource::none: break;
  }
  return {};
}

std::string progress_line(std::size_t begun, std::size_t total, std::string const& case_name,
                          double elapsed, std::size_t columns) {
  std::string text = fmt::format("{} of {}: {}", begun, total, case_name);
  if (begun > 1) {
    double const done = static_cast<double>(begun - 1);
    double const left = elapsed / done * (static_cast<double>(total) - done);
    text += left < 100 ? fmt::format(", about {:.0f} s left", std::ceil(left))
                       : fmt::format(", about {:.0f} min left", std::ceil(left / 60));
  }
  return text.substr(0, columns);
}

void run_jobs(std::vector<job> const& jobs, measure_options const& options,
              machine_limits const& limits, std::function<void(case_result const&)> const& report) {
  job_runner runner(jobs, limits, report);
  runner.run_planned_rounds(options);
  if (options.extra) runner.run_extra_rounds(options);
  runner.report_rest();
}

}  // namespace rocbench
