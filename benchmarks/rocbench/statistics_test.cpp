// SPDX-License-Identifier: MIT
#include "statistics.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace rocbench {
namespace {

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(quantile, takes_samples_and_what_lies_between) {
  std::vector<double> const sorted{1, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 4);
}

TEST(quantile, of_one_sample_is_that_sample) {
  std::vector<double> const one{7};
  for (double p : {0.0, 0.05, 0.5, 0.95, 1.0}) EXPECT_DOUBLE_EQ(quantile(one, p), 7);
}

// The counts of the sign test's tables at 5 %, two-sided.
TEST(median_interval_cut, is_that_of_the_binomial_tables) {
  EXPECT_EQ(median_interval_cut(6), 0u);
  EXPECT_EQ(median_interval_cut(8), 0u);
  EXPECT_EQ(median_interval_cut(9), 1u);
  EXPECT_EQ(median_interval_cut(10), 1u);
  EXPECT_EQ(median_interval_cut(12), 2u);
  EXPECT_EQ(median_interval_cut(20), 5u);
  EXPECT_EQ(median_interval_cut(50), 17u);
  EXPECT_EQ(median_interval_cut(100), 39u);
}

TEST(median_interval_cut, agrees_with_the_normal_approximation_for_many_samples) {
  for (std::size_t count : {1000u, 10000u, 100000u}) {
    auto const n = static_cast<double>(count);
    double const approximate = n / 2 - 1.959964 * std::sqrt(n) / 2;
    EXPECT_NEAR(static_cast<double>(median_interval_cut(count)), approximate, 2) << count;
  }
}

TEST(summarise, sorts) {
  summary const s = summarise({5, 1, 4, 2, 3});
  EXPECT_EQ(s.count, 5u);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.p5, 1.2);
  EXPECT_DOUBLE_EQ(s.p95, 4.8);
}

TEST(summarise, claims_no_interval_of_too_few_samples) {
  EXPECT_TRUE(std::isinf(summarise(counted(5)).relative_width()));
  EXPECT_TRUE(std::isfinite(summarise(counted(6)).relative_width()));
}

TEST(summarise, gives_the_interval_around_the_median) {
  summary const s = summarise(counted(10));
  EXPECT_DOUBLE_EQ(s.median, 5.5);
  EXPECT_DOUBLE_EQ(s.median_interval.low, 2);
  EXPECT_DOUBLE_EQ(s.median_interval.high, 9);
  EXPECT_DOUBLE_EQ(s.relative_width(), 7 / 5.5);
}

TEST(summarise, of_equal_samples_has_no_width) {
  EXPECT_DOUBLE_EQ(summarise(std::vector<double>(10, 3.0)).relative_width(), 0);
}

struct loop_row {
  std::vector<double> seconds;
  loop_times expected;
};

// The least time of all but the first, which no other may be slower or faster for.
TEST(summarise_loop, is_what_babelstream_prints) {
  loop_row const rows[] = {
      {{9, 2, 1, 3}, {1, 3, 2}},     // a slow first one is not the greatest
      {{0.5, 2, 1, 3}, {1, 3, 2}},   // nor a fast one the least
      {{5, 4}, {4, 4, 4}},           // one is left
      {{7}, {7, 7, 7}},              // interrupted before another
      {{1, 1, 1, 1, 5}, {1, 5, 2}},  // the last one counts
      {{4, 6, 2, 2, 2}, {2, 6, 3}},  // in whatever order
  };
  for (loop_row const& row : rows) {
    loop_times const found = summarise_loop(row.seconds);
    EXPECT_DOUBLE_EQ(found.least, row.expected.least);
    EXPECT_DOUBLE_EQ(found.greatest, row.expected.greatest);
    EXPECT_DOUBLE_EQ(found.mean, row.expected.mean);
  }
}

}  // namespace
}  // namespace rocbench
