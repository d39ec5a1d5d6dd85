// SPDX-License-Identifier: MIT
#include "statistics.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace rocbench {
namespace {

std::vector<double> one_to(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Quantile, InterpolatesBetweenSamples) {
  std::vector<double> const sorted{1, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 4);
}

TEST(Quantile, OfOneSampleIsThatSample) {
  std::vector<double> const single{7};
  for (double p : {0.0, 0.05, 0.5, 0.95, 1.0}) EXPECT_DOUBLE_EQ(quantile(single, p), 7);
}

// Two-sided critical values of the sign test at 5 %.
TEST(MedianIntervalCut, EqualsBinomialTables) {
  EXPECT_EQ(median_interval_cut(6), 0u);
  EXPECT_EQ(median_interval_cut(8), 0u);
  EXPECT_EQ(median_interval_cut(9), 1u);
  EXPECT_EQ(median_interval_cut(10), 1u);
  EXPECT_EQ(median_interval_cut(12), 2u);
  EXPECT_EQ(median_interval_cut(20), 5u);
  EXPECT_EQ(median_interval_cut(50), 17u);
  EXPECT_EQ(median_interval_cut(100), 39u);
}

TEST(MedianIntervalCut, ApproachesNormalApproximation) {
  for (std::size_t count : {1000u, 10000u, 100000u}) {
    auto const n = static_cast<double>(count);
    double const approximate = n / 2 - 1.959964 * std::sqrt(n) / 2;
    EXPECT_NEAR(static_cast<double>(median_interval_cut(count)), approximate, 2) << count;
  }
}

TEST(Summarize, SortsSamples) {
  summary const s = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(s.count, 5u);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.p5, 1.2);
  EXPECT_DOUBLE_EQ(s.p95, 4.8);
}

TEST(Summarize, IntervalIsInfiniteBelowSixSamples) {
  EXPECT_TRUE(std::isinf(summarize(one_to(5)).relative_width()));
  EXPECT_TRUE(std::isfinite(summarize(one_to(6)).relative_width()));
}

TEST(Summarize, ComputesIntervalOfMedian) {
  summary const s = summarize(one_to(10));
  EXPECT_DOUBLE_EQ(s.median, 5.5);
  EXPECT_DOUBLE_EQ(s.median_interval.low, 2);
  EXPECT_DOUBLE_EQ(s.median_interval.high, 9);
  EXPECT_DOUBLE_EQ(s.relative_width(), 7 / 5.5);
}

TEST(Summarize, EqualSamplesHaveNoWidth) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>(10, 3.0)).relative_width(), 0);
}

struct loop_row {
  std::vector<double> seconds;
  loop_times expected;
};

// BabelStream ignores the first time, whether it is slow or fast.
TEST(SummarizeLoop, EqualsBabelStreamsOutput) {
  loop_row const rows[] = {
      {{9, 2, 1, 3}, {1, 3, 2}},     // slow first time
      {{0.5, 2, 1, 3}, {1, 3, 2}},   // fast first time
      {{5, 4}, {4, 4, 4}},           // one time remains
      {{7}, {7, 7, 7}},              // a single time counts
      {{1, 1, 1, 1, 5}, {1, 5, 2}},  // the last time counts
      {{4, 6, 2, 2, 2}, {2, 6, 3}},  // any order
  };
  for (loop_row const& row : rows) {
    loop_times const times = summarize_loop(row.seconds);
    EXPECT_DOUBLE_EQ(times.min, row.expected.min);
    EXPECT_DOUBLE_EQ(times.max, row.expected.max);
    EXPECT_DOUBLE_EQ(times.mean, row.expected.mean);
  }
}

}  // namespace
}  // namespace rocbench
