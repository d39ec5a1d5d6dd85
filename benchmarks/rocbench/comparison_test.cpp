// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "example_run.hpp"

namespace rocbench {
namespace {

benchmark_run run_with(case_result const& result) {
  benchmark_run run = example_run();
  run.results = {result};
  return run;
}

// Returns the verdict on two rates of a case in bytes per second.
change verdict_of(double rate_before, double rate_after, double width = 0.002) {
  benchmark_run const before = run_with(example_result("x", 1 << 20, rate_before, width));
  benchmark_run const after = run_with(example_result("x", 1 << 20, rate_after, width));
  return compare(before, after, 0.02).cases.at(0).verdict;
}

TEST(Compare, VerdictFollowsFromIntervals) {
  EXPECT_EQ(verdict_of(50e9, 50e9), change::same);
  EXPECT_EQ(verdict_of(50e9, 50.5e9), change::same);   // a real change, but within the tolerance
  EXPECT_EQ(verdict_of(50e9, 51e9), change::unclear);  // the range contains the tolerance
  EXPECT_EQ(verdict_of(50e9, 52e9), change::faster);
  EXPECT_EQ(verdict_of(50e9, 49e9), change::unclear);
  EXPECT_EQ(verdict_of(50e9, 48e9), change::slower);
  EXPECT_EQ(verdict_of(50e9, 48e9, 0.1), change::unclear);  // noise
  EXPECT_EQ(verdict_of(50e9, 50e9, 0.1), change::unclear);
}

TEST(Compare, ComputesSpeedAndRange) {
  benchmark_run const before = run_with(example_result("x", 1 << 20, 50e9, 0.01));
  benchmark_run const after = run_with(example_result("x", 1 << 20, 60e9, 0.01));
  compared_case const changes = compare(before, after, 0.02).cases.at(0);
  EXPECT_DOUBLE_EQ(changes.speed, 1.2);
  EXPECT_DOUBLE_EQ(changes.range.low, 1.2 * 0.99 / 1.01);
  EXPECT_DOUBLE_EQ(changes.range.high, 1.2 * 1.01 / 0.99);
}

// Times of two identical runs on an H100, in seconds.
struct case_times {
  double median, p5, p95, low, high;
};

case_result h100_result(case_times const& times, bool noisy = true) {
  case_result result = example_result("x", 256 << 20, 50e9);
  result.measured.seconds = {20, times.median, times.p5, times.p95, {times.low, times.high}};
  result.measured.noisy = noisy;
  return result;
}

constexpr case_times pinned_before{5.4283e-3, 4.9218e-3, 5.7797e-3, 5.1713e-3, 5.6059e-3};
constexpr case_times pinned_after{4.9867e-3, 4.9343e-3, 5.6069e-3, 4.9480e-3, 5.0272e-3};
constexpr case_times pageable_before{18.417e-3, 17.413e-3, 22.421e-3, 17.895e-3, 21.162e-3};
constexpr case_times pageable_after{22.245e-3, 20.016e-3, 30.399e-3, 21.797e-3, 23.081e-3};

change verdict_of(case_result const& before, case_result const& after) {
  return compare(run_with(before), run_with(after), 0.02).cases.at(0).verdict;
}

TEST(Compare, IsUnclearIfMedianIsWithinSpreadOfNoisyRun) {
  for (auto const& [before, after] :
       {std::pair(pinned_before, pinned_after), std::pair(pageable_before, pageable_after)}) {
    EXPECT_EQ(verdict_of(h100_result(before), h100_result(after)), change::unclear);
    EXPECT_EQ(verdict_of(h100_result(after), h100_result(before)), change::unclear);
    // One noisy run is enough.
    EXPECT_EQ(verdict_of(h100_result(before, false), h100_result(after)), change::unclear);
    EXPECT_EQ(verdict_of(h100_result(before), h100_result(after, false)), change::unclear);
  }
  // Without noise only the confidence intervals count.
  EXPECT_EQ(verdict_of(h100_result(pinned_before, false), h100_result(pinned_after, false)),
            change::faster);
  EXPECT_EQ(verdict_of(h100_result(pageable_before, false), h100_result(pageable_after, false)),
            change::slower);
}

TEST(Compare, RequiresBothMediansOutsideOtherNoisyRunsSpread) {
  constexpr case_times steady{10, 9.9, 10.1, 9.95, 10.05};
  // `wide` is outside the spread of `steady`, whose median is within the spread of `wide`. `beyond`
  // and `steady` are each outside the other's spread.
  constexpr case_times wide{12, 9, 13, 11.5, 12.5};
  constexpr case_times beyond{12, 11, 13, 11.5, 12.5};
  EXPECT_EQ(verdict_of(h100_result(steady), h100_result(wide)), change::unclear);
  EXPECT_EQ(verdict_of(h100_result(wide), h100_result(steady)), change::unclear);
  EXPECT_EQ(verdict_of(h100_result(steady), h100_result(beyond)), change::slower);
  EXPECT_EQ(verdict_of(h100_result(beyond), h100_result(steady)), change::faster);
}

TEST(Compare, RangeOfNoisyCaseCoversSpread) {
  benchmark_run const before = run_with(h100_result(pinned_before));
  benchmark_run const after = run_with(h100_result(pinned_after));
  interval const range = compare(before, after, 0.02).cases.at(0).range;
  EXPECT_DOUBLE_EQ(range.low, pinned_before.median / pinned_after.p95);
  EXPECT_DOUBLE_EQ(range.high, pinned_before.p95 / pinned_after.median);
  // The confidence interval alone is within the tolerance, although the samples are spread.
  constexpr case_times spread{10, 9, 11, 9.99, 10.01};
  benchmark_run const same = run_with(h100_result(spread));
  EXPECT_EQ(compare(same, same, 0.02).cases.at(0).verdict, change::same);
  EXPECT_DOUBLE_EQ(compare(same, same, 0.02).cases.at(0).range.high, 10.01 / 9.99);
}

TEST(Compare, IsUnclearWithTooFewSamples) {
  benchmark_run before = run_with(example_result("x", 1, 50e9));
  benchmark_run const after = run_with(example_result("x", 1, 90e9));
  double const infinity = std::numeric_limits<double>::infinity();
  before.results[0].measured.seconds.median_interval = {-infinity, infinity};
  EXPECT_EQ(compare(before, after, 0.02).cases.at(0).verdict, change::unclear);
  EXPECT_EQ(compare(after, before, 0.02).cases.at(0).verdict, change::unclear);
  EXPECT_EQ(compare(before, before, 0.02).cases.at(0).verdict, change::unclear);
}

TEST(Compare, DistinguishesWrongDataAndUnmeasuredCases) {
  benchmark_run const both = example_run();
  comparison const changes = compare(both, both, 0.02);
  ASSERT_EQ(changes.cases.size(), 4u);
  EXPECT_EQ(changes.cases[0].verdict, change::same);
  EXPECT_EQ(changes.cases[1].verdict, change::wrong_data);
  EXPECT_EQ(changes.cases[2].verdict, change::not_measured);
  EXPECT_EQ(changes.cases[3].verdict, change::not_measured);
}

TEST(Compare, MatchesCasesByNameAndSize) {
  benchmark_run const before = run_with(example_result("x", 4096, 1e9));
  benchmark_run const after = run_with(example_result("x", 8192, 1e9));
  comparison const changes = compare(before, after, 0.02);
  EXPECT_TRUE(changes.cases.empty());
  EXPECT_EQ(changes.only_before.at(0), "x at 4 KiB");
  EXPECT_EQ(changes.only_after.at(0), "x at 8 KiB");
}

TEST(Compare, ListsDifferentDeviceOrDriver) {
  benchmark_run const before = example_run();
  benchmark_run after = before;
  EXPECT_TRUE(compare(before, after, 0.02).same_system);
  after.environment.driver_version = 13020;
  EXPECT_FALSE(compare(before, after, 0.02).same_system);
  EXPECT_EQ(compare(before, after, 0.02).differences.at(0), "driver: 13010 before, 13020 now");
  after = before;
  after.environment.device_name = "Other GPU";
  EXPECT_FALSE(compare(before, after, 0.02).same_system);
  after = before;
  after.environment.version = "0.2.0";  // comparing versions of rocbench is intended
  EXPECT_TRUE(compare(before, after, 0.02).same_system);
  EXPECT_EQ(compare(before, after, 0.02).differences.size(), 1u);
}

}  // namespace
}  // namespace rocbench
