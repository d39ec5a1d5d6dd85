// SPDX-License-Identifier: MIT
#include "runner.hpp"

#include <exception>
#include <memory>

#include "interrupt.hpp"
#include "progress.hpp"

namespace rocbench {
namespace {

struct state {
  samples taken;
  case_result result;
  std::size_t counted_bytes = 0;
  bool reported = false;
  bool over = false;  // skipped, failed or wrong: no further round
};

void take_turn(job const& of, measure_options const& options, state& at) {
  try {
    auto const subject = of.of.make(of.asked);
    at.result.bytes = subject->bytes();
    at.counted_bytes = subject->counted_bytes();
    take_samples(*subject, options, at.taken);
    at.result.path = subject->path();
    at.over = at.taken.mismatch.has_value();
  } catch (not_possible const& reason) {
    at.result.ended = outcome::skipped;
    at.result.problem = reason.what();
    at.over = true;
  } catch (std::exception const& e) {
    at.result.ended = outcome::failed;
    at.result.problem = e.what();
    at.over = true;
  }
}

state begin(job const& of, limits const& known) {
  state at;
  at.result.name = of.of.name;
  at.result.bytes = of.asked.bytes;
  at.result.counted = of.of.counted;
  at.result.physical = limit_of(of.of, known);
  return at;
}

}  // namespace

void run_jobs(std::vector<job> const& jobs, measure_options const& options, limits const& known,
              std::function<void(case_result const&)> const& report) {
  std::vector<state> states;
  for (job const& each : jobs) states.push_back(begin(each, known));
  progress shown(jobs.size() * options.rounds);
  auto const tell = [&](state& at) {
    if (at.reported) return;
    if (at.result.ended == outcome::measured) {
      if (at.taken.seconds.empty()) return;
      at.result.measured = conclude(at.taken, at.counted_bytes);
    }
    at.reported = true;
    shown.clear();
    report(at.result);
  };
  for (unsigned round = 1; round <= options.rounds && !interrupted(); ++round) {
    for (std::size_t i = 0; i < jobs.size() && !interrupted(); ++i) {
      shown.begin(jobs[i].of.name);
      if (!states[i].over) take_turn(jobs[i], options, states[i]);
      if (round == options.rounds) tell(states[i]);
    }
  }
  // What an interrupt left without its last turn.
  for (state& each : states) tell(each);
}

}  // namespace rocbench
