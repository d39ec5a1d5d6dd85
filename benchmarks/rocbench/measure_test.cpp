// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rocbench {
namespace {

// Needs no device; records the calls that it receives.
class recording_experiment final : public experiment {
 public:
  timing_method timing() const override { return timing_method::wall_clock; }
  std::size_t bytes() const override { return 100; }
  std::size_t counted_bytes() const override { return 200; }
  std::string path() override { return "none"; }
  roc::stream_ref stream() const override { return {}; }
  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override { runs.push_back(times); }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    checked.push_back(sample);
    if (inject != injection_site::none) return "a wrong byte";
    return std::nullopt;
  }

  std::size_t max_batch() const override { return max_executions; }

  std::vector<std::uint64_t> checked;
  std::vector<std::size_t> runs;
  std::size_t max_executions = 1000;
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
  recording_experiment subject;
  subject.max_executions = 1;
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

}  // namespace
}  // namespace rocbench
