// SPDX-License-Identifier: MIT
#include "statistics.hpp"

#include <cmath>
#include <numeric>

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
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 4);
  for (double p : {0.0, 0.05, 0.5, 1.0}) EXPECT_DOUBLE_EQ(quantile({{7}}, p), 7);
}

// Two-sided critical values of the sign test at 5 %, and the normal approximation.
TEST(MedianIntervalCut, EqualsBinomialTables) {
  std::size_t const rows[][2] = {{6, 0}, {8, 0}, {9, 1}, {12, 2}, {20, 5}, {50, 17}, {100, 39}};
  for (auto const& [count, cut] : rows) EXPECT_EQ(median_interval_cut(count), cut) << count;
  for (std::size_t count : {1000u, 10000u, 100000u}) {
    auto const n = static_cast<double>(count);
    double const approximate = n / 2 - 1.959964 * std::sqrt(n) / 2;
    EXPECT_NEAR(static_cast<double>(median_interval_cut(count)), approximate, 2) << count;
  }
}

TEST(Summarize, ComputesMedianSpreadAndInterval) {
  summary const five = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(five.count, 5u);
  EXPECT_DOUBLE_EQ(five.median, 3);
  EXPECT_DOUBLE_EQ(five.p5, 1.2);
  EXPECT_DOUBLE_EQ(five.p95, 4.8);
  EXPECT_TRUE(std::isinf(five.relative_width()));  // too few samples
  EXPECT_TRUE(std::isfinite(summarize(one_to(6)).relative_width()));
  summary const ten = summarize(one_to(10));
  EXPECT_DOUBLE_EQ(ten.median_interval.low, 2);
  EXPECT_DOUBLE_EQ(ten.median_interval.high, 9);
  EXPECT_DOUBLE_EQ(ten.relative_width(), 7 / 5.5);
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>(10, 3.0)).relative_width(), 0);
}

// BabelStream ignores the first time, whether it is slow or fast, unless it is the only one.
TEST(SummarizeLoop, EqualsBabelStreamsOutput) {
  struct {
    std::vector<double> seconds;
    loop_times expected;
  } const rows[] = {{{9, 2, 1, 3}, {1, 3, 2}},
                    {{0.5, 2, 1, 3}, {1, 3, 2}},
                    {{5, 4}, {4, 4, 4}},
                    {{7}, {7, 7, 7}},
                    {{1, 1, 1, 1, 5}, {1, 5, 2}}};
  for (auto const& row : rows) {
    loop_times const times = summarize_loop(row.seconds);
    EXPECT_DOUBLE_EQ(times.min, row.expected.min);
    EXPECT_DOUBLE_EQ(times.max, row.expected.max);
    EXPECT_DOUBLE_EQ(times.mean, row.expected.mean);
  }
}

}  // namespace
}  // namespace rocbench
