// SPDX-License-Identifier: MIT
#include "runner.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>

#include "interrupt.hpp"
#include "progress.hpp"

namespace rocbench {
namespace {

struct case_state {
  sample_set samples;
  case_result result;
  std::size_t counted_bytes = 0;
  bool finished = false;  // skipped, failed or wrong data: not measured again
};

void measure_round(job const& entry, measure_options const& options, case_state& state) {
  try {
    auto const subject = entry.benchmark.make_experiment(entry.parameters);
    state.result.bytes = subject->bytes();
    state.counted_bytes = subject->counted_bytes();
    take_samples(*subject, options, state.samples);
    state.result.path = subject->path();
    state.finished = state.samples.mismatch.has_value();
  } catch (case_not_supported const& reason) {
    state.result.status = outcome::skipped;
    state.result.reason = reason.what();
    state.finished = true;
  } catch (std::exception const& e) {
    state.result.status = outcome::failed;
    state.result.reason = e.what();
    state.finished = true;
  }
}

case_state make_state(job const& entry, machine_limits const& limits) {
  case_state state;
  state.result.name = entry.benchmark.name;
  state.result.bytes = entry.parameters.bytes;
  state.result.counted = entry.benchmark.counted;
  state.result.physical_limit = limit_of(entry.benchmark, limits);
  return state;
}

// Reports results in the order of the jobs, each after all results before it.
class ordered_reporter {
 public:
  ordered_reporter(std::vector<case_state>& states, progress& progress_line,
                   std::function<void(case_result const&)> const& report)
      : states_(states), progress_line_(progress_line), report_(report) {}

  /// Returns the index of the next result to report.
  std::size_t next() const { return next_; }

  void report_next() {
    case_state& state = states_[next_++];
    if (state.result.status == outcome::measured) {
      if (state.samples.seconds.empty()) return;
      state.result.measured = to_measurement(state.samples, state.counted_bytes);
    }
    progress_line_.clear();
    report_(state.result);
  }

 private:
  std::vector<case_state>& states_;
  progress& progress_line_;
  std::function<void(case_result const&)> const& report_;
  std::size_t next_ = 0;
};

// Returns true if the case needs no extra rounds.
bool is_complete(case_state const& state) {
  return state.finished || has_precise_median(state.samples);
}

void measure_extra_rounds(std::vector<job> const& jobs, measure_options options,
                          std::chrono::steady_clock::time_point start,
                          std::vector<case_state>& states, progress& progress_line) {
  extra_rounds const extra = *options.extra;
  options.min_time = 0;
  options.max_time = extra.time;
  options.rounds = 1;
  for (unsigned round = 1; round <= extra.max_rounds; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
      if (interrupted() || elapsed.count() >= extra.deadline) return;
      if (is_complete(states[i])) continue;
      progress_line.begin_extra_round(jobs[i].benchmark.name);
      measure_round(jobs[i], options, states[i]);
    }
  }
}

}  // namespace

void run_jobs(std::vector<job> const& jobs, measure_options const& options,
              machine_limits const& limits, std::function<void(case_result const&)> const& report) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<case_state> states;
  for (job const& entry : jobs) states.push_back(make_state(entry, limits));
  progress progress_line(jobs.size() * options.rounds);
  ordered_reporter reporter(states, progress_line, report);
  for (unsigned round = 1; round <= options.rounds && !interrupted(); ++round) {
    for (std::size_t i = 0; i < jobs.size() && !interrupted(); ++i) {
      progress_line.begin(jobs[i].benchmark.name);
      if (!states[i].finished) measure_round(jobs[i], options, states[i]);
      if (round != options.rounds) continue;
      while (reporter.next() <= i && (!options.extra || is_complete(states[reporter.next()]))) {
        reporter.report_next();
      }
    }
  }
  if (options.extra) measure_extra_rounds(jobs, options, start, states, progress_line);
  // Results that are still unreported after extra rounds or an interrupt.
  while (reporter.next() < states.size()) reporter.report_next();
}

}  // namespace rocbench
