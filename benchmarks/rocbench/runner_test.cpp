// SPDX-License-Identifier: MIT
#include "runner.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rocbench {
namespace {

// How often each case was made, which is once a turn.
std::map<std::string, unsigned> turns;

// Work that takes no device: every other sample takes ten times as long, so that none agree.
class uneven_experiment final : public experiment {
 public:
  timing timed_by() const override { return timing::wall_clock; }
  std::size_t bytes() const override { return 100; }
  std::size_t counted_bytes() const override { return 100; }
  std::string path() override { return "none"; }
  roc::stream_ref stream() const override { return {}; }
  void prepare(std::uint64_t sample) override { long_ = sample % 2 == 0; }
  std::size_t most_at_once() const override { return 1; }
  void run(std::size_t) override {
    auto const end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(long_ ? 1000 : 100);
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  std::optional<std::string> check(std::uint64_t, inject_place inject) override {
    if (inject != inject_place::none) return "a wrong byte";
    return std::nullopt;
  }

 private:
  bool long_ = false;
};

job uneven(std::string const& name) {
  return {{name, "", accounting::payload, bound::none, true,
           [name](extent_request const&) {
             ++turns[name];
             return std::make_unique<uneven_experiment>();
           }},
          {}};
}

job impossible(std::string const& name) {
  job result = uneven(name);
  result.of.make = [name](extent_request const&) -> std::unique_ptr<experiment> {
    ++turns[name];
    throw not_possible("not here");
  };
  return result;
}

// Names in the order in which they are told.
std::vector<std::string> told(std::vector<job> const& jobs, measure_options const& options) {
  turns.clear();
  std::vector<std::string> names;
  run_jobs(jobs, options, {}, [&](case_result const& each) { names.push_back(each.name); });
  return names;
}

measure_options quick() { return {.min_time = 0, .max_time = 0.02, .rounds = 2}; }

TEST(runner, cases_whose_samples_disagree_get_further_turns_and_are_told_in_order) {
  measure_options options = quick();
  options.further = {{.time = 0.01, .most = 3, .deadline = 1000}};
  EXPECT_EQ(told({uneven("a"), impossible("b"), uneven("c")}, options),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(turns, (std::map<std::string, unsigned>{{"a", 5}, {"b", 1}, {"c", 5}}));
}

TEST(runner, without_further_turns_or_behind_their_deadline_there_are_the_rounds_alone) {
  measure_options options = quick();
  std::map<std::string, unsigned> const rounds{{"a", 2}, {"b", 2}};
  EXPECT_EQ(told({uneven("a"), uneven("b")}, options).size(), 2u);
  EXPECT_EQ(turns, rounds);
  options.further = {{.time = 0.01, .most = 3, .deadline = 0}};
  EXPECT_EQ(told({uneven("a"), uneven("b")}, options).size(), 2u);
  EXPECT_EQ(turns, rounds);
}

TEST(runner, a_wrong_byte_ends_a_case) {
  measure_options options = quick();
  options.inject = inject_place::data;
  options.further = {{.time = 0.01, .most = 3, .deadline = 1000}};
  EXPECT_EQ(told({uneven("a")}, options).size(), 1u);
  EXPECT_EQ(turns.at("a"), 1u);
}

}  // namespace
}  // namespace rocbench
