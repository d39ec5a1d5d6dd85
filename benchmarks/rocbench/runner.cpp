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

struct state {
  samples taken;
  case_result result;
  std::size_t counted_bytes = 0;
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

// Tells results in their order, each as soon as those before it are known too.
class teller {
 public:
  teller(std::vector<state>& states, progress& shown,
         std::function<void(case_result const&)> const& report)
      : states_(states), shown_(shown), report_(report) {}

  /// The case behind those that were told so far.
  std::size_t next() const { return next_; }

  void tell_next() {
    state& at = states_[next_++];
    if (at.result.ended == outcome::measured) {
      if (at.taken.seconds.empty()) return;
      at.result.measured = conclude(at.taken, at.counted_bytes);
    }
    shown_.clear();
    report_(at.result);
  }

 private:
  std::vector<state>& states_;
  progress& shown_;
  std::function<void(case_result const&)> const& report_;
  std::size_t next_ = 0;
};

// Whether a case has what it needs.
bool done(state const& at) { return at.over || comparable(at.taken); }

void take_further_turns(std::vector<job> const& jobs, measure_options turn,
                        std::chrono::steady_clock::time_point begun, std::vector<state>& states,
                        progress& shown) {
  further_turns const further = *turn.further;
  turn.min_time = 0;
  turn.max_time = further.time;
  turn.rounds = 1;
  for (unsigned round = 1; round <= further.most; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      std::chrono::duration<double> const past = std::chrono::steady_clock::now() - begun;
      if (interrupted() || past.count() >= further.deadline) return;
      if (done(states[i])) continue;
      shown.again(jobs[i].of.name);
      take_turn(jobs[i], turn, states[i]);
    }
  }
}

}  // namespace

void run_jobs(std::vector<job> const& jobs, measure_options const& options, limits const& known,
              std::function<void(case_result const&)> const& report) {
  auto const begun = std::chrono::steady_clock::now();
  std::vector<state> states;
  for (job const& each : jobs) states.push_back(begin(each, known));
  progress shown(jobs.size() * options.rounds);
  teller results(states, shown, report);
  for (unsigned round = 1; round <= options.rounds && !interrupted(); ++round) {
    for (std::size_t i = 0; i < jobs.size() && !interrupted(); ++i) {
      shown.begin(jobs[i].of.name);
      if (!states[i].over) take_turn(jobs[i], options, states[i]);
      if (round != options.rounds) continue;
      while (results.next() <= i && (!options.further || done(states[results.next()]))) {
        results.tell_next();
      }
    }
  }
  if (options.further) take_further_turns(jobs, options, begun, states, shown);
  // What further turns, or an interrupt, left untold.
  while (results.next() < states.size()) results.tell_next();
}

}  // namespace rocbench
