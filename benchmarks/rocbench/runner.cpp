// SPDX-License-Identifier: MIT
#include "runner.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rocbench {
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
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

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
  std::chrono::steady_clock::time_point const start_ = std::chrono::steady_clock::now();
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
