// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rocbench {
namespace {

// Work that takes no device: counts what is asked of it.
class counted_experiment final : public experiment {
 public:
  timing timed_by() const override { return timing::wall_clock; }
  std::size_t bytes() const override { return 100; }
  std::size_t counted_bytes() const override { return 200; }
  std::string path() override { return "none"; }
  roc::stream_ref stream() const override { return {}; }
  void prepare(std::uint64_t) override {}
  void run(std::size_t times) override { runs.push_back(times); }
  std::optional<std::string> check(std::uint64_t sample, inject_place inject) override {
    checked.push_back(sample);
    if (inject != inject_place::none) return "a wrong byte";
    return std::nullopt;
  }

  std::size_t most_at_once() const override { return most; }

  std::vector<std::uint64_t> checked;
  std::vector<std::size_t> runs;
  std::size_t most = 1000;
};

measure_options lasting(double seconds, unsigned rounds) { return {0, seconds, rounds}; }

TEST(measure, fixed_counts_are_kept) {
  counted_experiment subject;
  samples taken;
  measure_options options;
  options.fixed = {4, 16, 3};
  take_samples(subject, options, taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{4, 16, 16, 16}));
  EXPECT_EQ(subject.checked, (std::vector<std::uint64_t>{1, 2, 3}));
  measurement const result = conclude(taken, 200);
  EXPECT_EQ(result.seconds.count, 3u);
  EXPECT_EQ(result.executions, 48u);
  EXPECT_FALSE(result.noisy);
}

// What is used up by one execution: prepared anew before each.
TEST(measure, no_more_is_run_at_once_than_can_be) {
  counted_experiment subject;
  subject.most = 1;
  samples taken;
  take_samples(subject, lasting(1e-9, 1), taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(taken.batch, 1u);
  subject.runs.clear();
  samples counted;
  measure_options options;
  options.fixed = {1, 16, 2};
  take_samples(subject, options, counted);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(conclude(counted, 200).executions, 2u);
}

TEST(measure, rounds_go_on_with_patterns_that_were_not_there_before) {
  counted_experiment subject;
  samples taken;
  for (std::size_t round = 1; round <= 2; ++round) {
    take_samples(subject, lasting(0.02, 2), taken);
    EXPECT_GE(taken.seconds.size(), round);
    EXPECT_EQ(taken.seconds.size(), subject.checked.size());
  }
  std::ranges::sort(subject.checked);
  EXPECT_EQ(std::ranges::adjacent_find(subject.checked), subject.checked.end());
}

TEST(measure, no_time_is_one_sample) {
  counted_experiment subject;
  samples taken;
  take_samples(subject, lasting(0, 1), taken);
  EXPECT_EQ(taken.seconds.size(), 1u);
  EXPECT_TRUE(conclude(taken, 200).noisy);
  EXPECT_EQ(subject.runs, std::vector<std::size_t>{1});  // no warm-up either
}

TEST(measure, ends_at_the_first_wrong_sample) {
  counted_experiment subject;
  samples taken;
  measure_options options = lasting(100, 1);
  options.inject = inject_place::data;
  take_samples(subject, options, taken);
  EXPECT_EQ(taken.seconds.size(), 1u);
  EXPECT_EQ(conclude(taken, 200).mismatch, "a wrong byte");
}

TEST(measure, samples_are_comparable_where_the_median_is_known_to_half_of_what_compare_ignores) {
  samples taken;
  taken.seconds.assign(9, 1.0);
  EXPECT_FALSE(comparable(taken));  // too few
  taken.seconds.push_back(1.0);
  EXPECT_TRUE(comparable(taken));
  // An interval of ten is that from the second to the ninth.
  taken.seconds = {0.9, 0.995, 1, 1, 1, 1, 1, 1, 1.0049, 1.1};
  EXPECT_TRUE(comparable(taken));
  taken.seconds[8] = 1.0051;
  EXPECT_FALSE(comparable(taken));
  taken.fixed = true;  // their number was asked for
  EXPECT_TRUE(comparable(taken));
}

TEST(measure, the_rate_of_a_loop_is_that_of_its_least_time) {
  counted_experiment subject;
  samples taken;
  measure_options options;
  options.fixed = {.warm_ups = 0, .batch = 1, .samples = 4, .by_least_time = true};
  take_samples(subject, options, taken);
  EXPECT_EQ(subject.runs, (std::vector<std::size_t>{1, 1, 1, 1}));
  taken.seconds = {1, 8, 4, 5};
  measurement const result = conclude(taken, 200);
  ASSERT_TRUE(result.loop);
  EXPECT_DOUBLE_EQ(result.shown_seconds(), 4);
  EXPECT_DOUBLE_EQ(result.shown_rate(), 50);
  EXPECT_DOUBLE_EQ(result.loop->greatest, 8);
  taken.by_least_time = false;
  EXPECT_DOUBLE_EQ(conclude(taken, 200).shown_seconds(), 4.5);
}

TEST(measure, rates_are_counted_bytes_over_time) {
  samples taken;
  taken.seconds = {1, 2, 4};
  taken.executions = 3;
  taken.cpu_seconds = 6;
  measurement const result = conclude(taken, 200);
  EXPECT_DOUBLE_EQ(result.rate.median, 100);
  EXPECT_DOUBLE_EQ(result.seconds.median, 2);
  EXPECT_DOUBLE_EQ(result.cpu_seconds, 2);
}

}  // namespace
}  // namespace rocbench
