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

// Number of rounds per case, counted as constructed experiments.
std::map<std::string, unsigned> rounds_of_case;

// Needs no device. Every other sample takes ten times as long, so that the samples never agree.
class noisy_experiment final : public experiment {
 public:
  timing_method timing() const override { return timing_method::wall_clock; }
  std::size_t bytes() const override { return 100; }
  std::size_t counted_bytes() const override { return 100; }
  std::string path() override { return "none"; }
  roc::stream_ref stream() const override { return {}; }
  void prepare(std::uint64_t sample) override { is_long_ = sample % 2 == 0; }
  std::size_t max_batch() const override { return 1; }
  void run(std::size_t) override {
    auto const end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(is_long_ ? 1000 : 100);
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  std::optional<std::string> check(std::uint64_t, injection_site inject) override {
    if (inject != injection_site::none) return "a wrong byte";
    return std::nullopt;
  }

 private:
  bool is_long_ = false;
};

job noisy_job(std::string const& name) {
  return {{name, "", accounting::payload, limiting_resource::none, true,
           [name](case_parameters const&) {
             ++rounds_of_case[name];
             return std::make_unique<noisy_experiment>();
           }},
          {}};
}

job unsupported_job(std::string const& name) {
  job result = noisy_job(name);
  result.benchmark.make_experiment = [name](case_parameters const&) -> std::unique_ptr<experiment> {
    ++rounds_of_case[name];
    throw case_not_supported("not here");
  };
  return result;
}

// Returns the case names in the order of the reports.
std::vector<std::string> reported_names(std::vector<job> const& jobs,
                                        measure_options const& options) {
  rounds_of_case.clear();
  std::vector<std::string> names;
  run_jobs(jobs, options, {}, [&](case_result const& result) { names.push_back(result.name); });
  return names;
}

measure_options quick_options() { return {.min_time = 0, .max_time = 0.02, .rounds = 2}; }

TEST(RunJobs, GivesNoisyCasesExtraRoundsAndReportsInOrder) {
  measure_options options = quick_options();
  options.extra = {{.time = 0.01, .max_rounds = 3, .deadline = 1000}};
  EXPECT_EQ(reported_names({noisy_job("a"), unsupported_job("b"), noisy_job("c")}, options),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(rounds_of_case, (std::map<std::string, unsigned>{{"a", 5}, {"b", 1}, {"c", 5}}));
}

TEST(RunJobs, HasNoExtraRoundsIfDisabledOrPastDeadline) {
  measure_options options = quick_options();
  std::map<std::string, unsigned> const rounds{{"a", 2}, {"b", 2}};
  EXPECT_EQ(reported_names({noisy_job("a"), noisy_job("b")}, options).size(), 2u);
  EXPECT_EQ(rounds_of_case, rounds);
  options.extra = {{.time = 0.01, .max_rounds = 3, .deadline = 0}};
  EXPECT_EQ(reported_names({noisy_job("a"), noisy_job("b")}, options).size(), 2u);
  EXPECT_EQ(rounds_of_case, rounds);
}

TEST(RunJobs, EndsCaseAtWrongByte) {
  measure_options options = quick_options();
  options.inject = injection_site::data;
  options.extra = {{.time = 0.01, .max_rounds = 3, .deadline = 1000}};
  EXPECT_EQ(reported_names({noisy_job("a")}, options).size(), 1u);
  EXPECT_EQ(rounds_of_case.at("a"), 1u);
}

}  // namespace
}  // namespace rocbench
