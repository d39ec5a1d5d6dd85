// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "example_document.hpp"

namespace rocbench {
namespace {

document with(case_result const& only) {
  document result = example_document();
  result.results = {only};
  return result;
}

change verdict(double before, double after, double width = 0.002) {
  document const was = with(example_result("x", 1 << 20, before, width));
  document const is = with(example_result("x", 1 << 20, after, width));
  return compare(was, is, 0.02).cases.at(0).what;
}

TEST(compare, says_what_the_intervals_allow) {
  EXPECT_EQ(verdict(50e9, 50e9), change::same);
  EXPECT_EQ(verdict(50e9, 50.5e9), change::same);   // a real change that is too small to matter
  EXPECT_EQ(verdict(50e9, 51e9), change::unclear);  // across the tolerance
  EXPECT_EQ(verdict(50e9, 52e9), change::faster);
  EXPECT_EQ(verdict(50e9, 49e9), change::unclear);
  EXPECT_EQ(verdict(50e9, 48e9), change::slower);
  EXPECT_EQ(verdict(50e9, 48e9, 0.1), change::unclear);  // noise
  EXPECT_EQ(verdict(50e9, 50e9, 0.1), change::unclear);
}

TEST(compare, gives_the_change_and_its_range) {
  document const was = with(example_result("x", 1 << 20, 50e9, 0.01));
  document const is = with(example_result("x", 1 << 20, 60e9, 0.01));
  compared_case const found = compare(was, is, 0.02).cases.at(0);
  EXPECT_DOUBLE_EQ(found.speed, 1.2);
  EXPECT_DOUBLE_EQ(found.range.low, 1.2 * 0.99 / 1.01);
  EXPECT_DOUBLE_EQ(found.range.high, 1.2 * 1.01 / 0.99);
}

TEST(compare, too_few_samples_tell_nothing) {
  document was = with(example_result("x", 1, 50e9));
  document const is = with(example_result("x", 1, 90e9));
  double const infinity = std::numeric_limits<double>::infinity();
  was.results[0].measured.seconds.median_interval = {-infinity, infinity};
  EXPECT_EQ(compare(was, is, 0.02).cases.at(0).what, change::unclear);
  EXPECT_EQ(compare(is, was, 0.02).cases.at(0).what, change::unclear);
  EXPECT_EQ(compare(was, was, 0.02).cases.at(0).what, change::unclear);
}

TEST(compare, wrong_data_has_no_speed_and_what_was_not_measured_no_verdict) {
  document const both = example_document();
  comparison const found = compare(both, both, 0.02);
  ASSERT_EQ(found.cases.size(), 4u);
  EXPECT_EQ(found.cases[0].what, change::same);
  EXPECT_EQ(found.cases[1].what, change::wrong_data);
  EXPECT_EQ(found.cases[2].what, change::not_measured);
  EXPECT_EQ(found.cases[3].what, change::not_measured);
}

TEST(compare, cases_are_matched_by_name_and_size) {
  document const was = with(example_result("x", 4096, 1e9));
  document const is = with(example_result("x", 8192, 1e9));
  comparison const found = compare(was, is, 0.02);
  EXPECT_TRUE(found.cases.empty());
  EXPECT_EQ(found.only_before.at(0), "x at 4 KiB");
  EXPECT_EQ(found.only_after.at(0), "x at 8 KiB");
}

TEST(compare, another_device_or_driver_is_told_and_is_no_regression) {
  document const was = example_document();
  document is = was;
  EXPECT_TRUE(compare(was, is, 0.02).comparable);
  is.where.driver_version = 13020;
  EXPECT_FALSE(compare(was, is, 0.02).comparable);
  EXPECT_EQ(compare(was, is, 0.02).differences.at(0), "driver: 13010 before, 13020 now");
  is = was;
  is.where.device_name = "Other GPU";
  EXPECT_FALSE(compare(was, is, 0.02).comparable);
  is = was;
  is.where.version = "0.2.0";  // is what one compares
  EXPECT_TRUE(compare(was, is, 0.02).comparable);
  EXPECT_EQ(compare(was, is, 0.02).differences.size(), 1u);
}

}  // namespace
}  // namespace rocbench
