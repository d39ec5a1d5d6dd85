// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <roc/event.hpp>

#include "machine.hpp"

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
      : subject_(subject), synchronize_each_(synchronize_each) {
    bool const by_host =
        synchronize_each || subject.properties().timing == timing_method::wall_clock;
    if (!by_host) events_.emplace();
  }

  double operator()(std::size_t times) {
    return std::max(events_ ? by_device_events(times) : by_wall_clock(times), clock_resolution);
  }

 private:
  double by_wall_clock(std::size_t times) {
    stopwatch const elapsed_time;
    subject_.run(times);
    if (synchronize_each_) subject_.stream().synchronize();
    return elapsed_time.seconds();
  }

  double by_device_events(std::size_t times) {
    auto& [begin, end] = *events_;
    begin.record(subject_.stream());
    subject_.run(times);
    end.record(subject_.stream());
    end.synchronize();
    return begin.elapsed_time(end) * 1e-3;
  }

  experiment& subject_;
  bool synchronize_each_;
  std::optional<std::array<roc::timed_event, 2>>
      events_;  // only if they are used: they need a device
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

namespace {

// The last line of a terminal on standard error. It is overwritten by the next one, and erased
// before results are printed. Prints nothing if standard error is no terminal.
class status_line {
 public:
  status_line() {
    winsize size{};
    if (isatty(STDERR_FILENO) != 1) return;
    bool const is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    columns_ = is_known ? size.ws_col : 80;
  }
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
  std::size_t columns_ = 0;  // 0: no terminal
};

struct case_state {
  sample_set samples;
  case_result result;
  std::size_t counted_bytes = 0;
  bool finished = false;  // skipped, failed or wrong data: not measured again

  // Returns true if the case needs no extra rounds.
  bool is_complete() const { return finished || has_precise_median(samples); }
};

case_state make_state(job const& entry, machine_limits const& limits) {
  case_state state;
  state.result.name = entry.benchmark.name;
  state.result.bytes = entry.parameters.bytes;
  state.result.counted = entry.benchmark.counted;
  state.result.physical_limit = limit_of(entry.benchmark, limits);
  return state;
}

void end_unmeasured(case_state& state, outcome status, char const* reason) {
  state.result.status = status;
  state.result.reason = reason;
  state.finished = true;
}

void measure_round(job const& entry, measure_options const& options, case_state& state) {
  try {
    auto const subject = entry.benchmark.make_experiment(entry.parameters);
    state.result.bytes = subject->properties().bytes;
    state.result.path = subject->properties().path;
    state.counted_bytes = subject->properties().counted_bytes;
    take_samples(*subject, options, state.samples);
    state.finished = state.samples.mismatch.has_value();
  } catch (case_not_supported const& reason) {
    end_unmeasured(state, outcome::skipped, reason.what());
  } catch (std::exception const& e) {
    end_unmeasured(state, outcome::failed, e.what());
  }
}

// The measurement of a list of jobs.
class job_runner {
 public:
  job_runner(std::vector<job> const& jobs, machine_limits const& limits,
             std::function<void(case_result const&)> const& report)
      : jobs_(jobs), report_(report) {
    for (job const& entry : jobs) states_.push_back(make_state(entry, limits));
  }

  void run_planned_rounds(measure_options const& options) {
    std::size_t begun = 0;
    for (unsigned round = 1; round <= options.rounds && !interrupted(); ++round) {
      for (std::size_t i = 0; i < jobs_.size() && !interrupted(); ++i) {
        line_.show(progress_line(++begun, jobs_.size() * options.rounds, jobs_[i].benchmark.name,
                                 elapsed(), line_.columns()));
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
        double const left = extra.deadline - elapsed();
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
  double elapsed() const { return elapsed_time_.seconds(); }

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
