// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner.hpp"

namespace rocbench {
namespace {

// Needs no device; records the calls that it receives.
class recording_experiment final : public experiment {
 public:
  explicit recording_experiment(std::size_t max_batch = 1000)
      : experiment({timing_method::wall_clock, 100, 200, "none", max_batch}) {}
  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override { runs.push_back(times); }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    checked.push_back(sample);
    if (inject != injection_site::none) return "a wrong byte";
    return std::nullopt;
  }

  std::vector<std::uint64_t> checked;
  std::vector<std::size_t> runs;
};

measure_options with_max_time(double seconds, unsigned rounds) { return {0, seconds, rounds}; }

TEST(TakeSamples, KeepsFixedCounts) {
  recording_experiment subject;
  sample_set taken;
  measure_options options;
  options.fixed = {4, 16, 3};
  take_samples(subject, options, taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{4, 16, 16, 16}));
  EXPECT_EQ(subject.checked, (std::vector<std::uint64_t>{1, 2, 3}));
  measurement const result = to_measurement(taken, 200);
  EXPECT_EQ(result.seconds.count, 3u);
  EXPECT_EQ(result.executions, 48u);
  EXPECT_FALSE(result.noisy);
}

// Each execution must be prepared anew.
TEST(TakeSamples, DoesNotExceedMaxBatch) {
  recording_experiment subject(1);
  sample_set taken;
  take_samples(subject, with_max_time(1e-9, 1), taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(taken.batch, 1u);
  subject.runs.clear();
  sample_set fixed_samples;
  measure_options options;
  options.fixed = {1, 16, 2};
  take_samples(subject, options, fixed_samples);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(to_measurement(fixed_samples, 200).executions, 2u);
}

TEST(TakeSamples, UsesNewPatternsInEachRound) {
  recording_experiment subject;
  sample_set taken;
  for (std::size_t round = 1; round <= 2; ++round) {
    take_samples(subject, with_max_time(0.02, 2), taken);
    EXPECT_GE(taken.seconds.size(), round);
    EXPECT_EQ(taken.seconds.size(), subject.checked.size());
  }
  std::ranges::sort(subject.checked);
  EXPECT_EQ(std::ranges::adjacent_find(subject.checked), subject.checked.end());
}

TEST(TakeSamples, TakesOneSampleWithoutTime) {
  recording_experiment subject;
  sample_set taken;
  take_samples(subject, with_max_time(0, 1), taken);
  EXPECT_EQ(taken.seconds.size(), 1u);
  EXPECT_TRUE(to_measurement(taken, 200).noisy);
  EXPECT_EQ(subject.runs, std::vector<std::size_t>{1});  // and no warm-up
}

TEST(TakeSamples, EndsAtFirstWrongSample) {
  recording_experiment subject;
  sample_set taken;
  measure_options options = with_max_time(100, 1);
  options.inject = injection_site::data;
  take_samples(subject, options, taken);
  EXPECT_EQ(taken.seconds.size(), 1u);
  EXPECT_EQ(to_measurement(taken, 200).mismatch, "a wrong byte");
}

TEST(HasPreciseMedian, RequiresIntervalUpToHalfOfTolerance) {
  sample_set taken;
  taken.seconds.assign(9, 1.0);
  EXPECT_FALSE(has_precise_median(taken));  // too few samples
  taken.seconds.push_back(1.0);
  EXPECT_TRUE(has_precise_median(taken));
  // With ten samples the interval is from the second to the ninth.
  taken.seconds = {0.9, 0.995, 1, 1, 1, 1, 1, 1, 1.0049, 1.1};
  EXPECT_TRUE(has_precise_median(taken));
  taken.seconds[8] = 1.0051;
  EXPECT_FALSE(has_precise_median(taken));
  taken.fixed = true;  // the number of samples was given
  EXPECT_TRUE(has_precise_median(taken));
}

TEST(ToMeasurement, ReportsFastestExecutionIfRequested) {
  recording_experiment subject;
  sample_set taken;
  measure_options options;
  options.fixed = {.warm_ups = 0, .batch = 1, .samples = 4, .report_fastest = true};
  take_samples(subject, options, taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1, 1}));
  taken.seconds = {1, 8, 4, 5};
  measurement const result = to_measurement(taken, 200);
  ASSERT_TRUE(result.loop);
  EXPECT_DOUBLE_EQ(result.reported_seconds(), 4);
  EXPECT_DOUBLE_EQ(result.reported_rate(), 50);
  EXPECT_DOUBLE_EQ(result.loop->max, 8);
  taken.report_fastest = false;
  EXPECT_DOUBLE_EQ(to_measurement(taken, 200).reported_seconds(), 4.5);
}

TEST(ToMeasurement, RatesAreCountedBytesPerTime) {
  sample_set taken;
  taken.seconds = {1, 2, 4};
  taken.executions = 3;
  taken.cpu_seconds = 6;
  measurement const result = to_measurement(taken, 200);
  EXPECT_DOUBLE_EQ(result.rate.median, 100);
  EXPECT_DOUBLE_EQ(result.seconds.median, 2);
  EXPECT_DOUBLE_EQ(result.cpu_seconds, 2);
}

// Number of rounds per case, counted as constructed experiments.
std::map<std::string, unsigned> rounds_of_case;

// Needs no device. Every other sample takes ten times as long, so that the samples never agree.
class noisy_experiment final : public experiment {
 public:
  noisy_experiment() : experiment({timing_method::wall_clock, 100, 100, "none", 1}) {}
  void prepare(std::uint64_t sample) override { is_long_ = sample % 2 == 0; }
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

TEST(ProgressLine, ShowsTimeLeftInProportion) {
  EXPECT_EQ(progress_line(1, 54, "h2d/pinned", 0, 80), "1 of 54: h2d/pinned");
  EXPECT_EQ(progress_line(28, 54, "h2d/pinned", 13.5, 80), "28 of 54: h2d/pinned, about 14 s left");
  EXPECT_EQ(progress_line(11, 110, "h2d/pinned", 60, 80),
            "11 of 110: h2d/pinned, about 10 min left");
  EXPECT_EQ(progress_line(28, 54, "h2d/pinned", 13.5, 16), "28 of 54: h2d/pi");
}

}  // namespace
}  // namespace rocbench
