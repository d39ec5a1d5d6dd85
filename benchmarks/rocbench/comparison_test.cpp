// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <limits>
#include <utility>

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

// Of two runs on an H100, nothing changed between them: seconds, median first, then p5, p95 and
// the median's interval.
struct run_of_case {
  double median, p5, p95, low, high;
};

case_result noisy_result(run_of_case const& of, bool noisy = true) {
  case_result result = example_result("x", 256 << 20, 50e9);
  result.measured.seconds = {20, of.median, of.p5, of.p95, {of.low, of.high}};
  result.measured.noisy = noisy;
  return result;
}

constexpr run_of_case pinned_before{5.4283e-3, 4.9218e-3, 5.7797e-3, 5.1713e-3, 5.6059e-3};
constexpr run_of_case pinned_after{4.9867e-3, 4.9343e-3, 5.6069e-3, 4.9480e-3, 5.0272e-3};
constexpr run_of_case pageable_before{18.417e-3, 17.413e-3, 22.421e-3, 17.895e-3, 21.162e-3};
constexpr run_of_case pageable_after{22.245e-3, 20.016e-3, 30.399e-3, 21.797e-3, 23.081e-3};

change verdict(case_result const& before, case_result const& after) {
  return compare(with(before), with(after), 0.02).cases.at(0).what;
}

TEST(compare, a_median_within_the_spread_of_a_noisy_run_is_no_change) {
  for (auto const& [was, is] :
       {std::pair(pinned_before, pinned_after), std::pair(pageable_before, pageable_after)}) {
    EXPECT_EQ(verdict(noisy_result(was), noisy_result(is)), change::unclear);
    EXPECT_EQ(verdict(noisy_result(is), noisy_result(was)), change::unclear);
    // One noisy run is enough to doubt.
    EXPECT_EQ(verdict(noisy_result(was, false), noisy_result(is)), change::unclear);
    EXPECT_EQ(verdict(noisy_result(was), noisy_result(is, false)), change::unclear);
  }
  // Samples that agree: the medians' intervals are all that counts.
  EXPECT_EQ(verdict(noisy_result(pinned_before, false), noisy_result(pinned_after, false)),
            change::faster);
  EXPECT_EQ(verdict(noisy_result(pageable_before, false), noisy_result(pageable_after, false)),
            change::slower);
}

TEST(compare, both_medians_have_to_lie_outside_of_the_other_noisy_runs_spread) {
  constexpr run_of_case steady{10, 9.9, 10.1, 9.95, 10.05};
  // Above the spread of the first, whose median is within that of the second; then not any more.
  constexpr run_of_case wide{12, 9, 13, 11.5, 12.5};
  constexpr run_of_case beyond{12, 11, 13, 11.5, 12.5};
  EXPECT_EQ(verdict(noisy_result(steady), noisy_result(wide)), change::unclear);
  EXPECT_EQ(verdict(noisy_result(wide), noisy_result(steady)), change::unclear);
  EXPECT_EQ(verdict(noisy_result(steady), noisy_result(beyond)), change::slower);
  EXPECT_EQ(verdict(noisy_result(beyond), noisy_result(steady)), change::faster);
}

TEST(compare, a_noisy_case_shows_the_range_of_its_verdict) {
  document const was = with(noisy_result(pinned_before));
  document const is = with(noisy_result(pinned_after));
  interval const range = compare(was, is, 0.02).cases.at(0).range;
  EXPECT_DOUBLE_EQ(range.low, pinned_before.median / pinned_after.p95);
  EXPECT_DOUBLE_EQ(range.high, pinned_before.p95 / pinned_after.median);
  // The same by its medians: their interval is within the tolerance, however far samples lie apart.
  constexpr run_of_case spread{10, 9, 11, 9.99, 10.01};
  document const same = with(noisy_result(spread));
  EXPECT_EQ(compare(same, same, 0.02).cases.at(0).what, change::same);
  EXPECT_DOUBLE_EQ(compare(same, same, 0.02).cases.at(0).range.high, 10.01 / 9.99);
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
