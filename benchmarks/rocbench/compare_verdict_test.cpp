// SPDX-License-Identifier: MIT
#include "compare_verdict.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

#include "example_run.hpp"

namespace rocbench {
namespace {

struct example_case {
  char const* name;
  double before;  // GB/s
  double after;
  double width = 0.002;
};

std::string verdict_line(std::initializer_list<example_case> cases, std::size_t below = 0,
                         unsigned driver_after = 13010) {
  benchmark_run before = example_run();
  before.results.clear();
  benchmark_run after = before;
  after.environment.driver_version = static_cast<int>(driver_after);
  for (example_case const& example : cases) {
    before.results.push_back(
        example_result(example.name, 1 << 20, example.before * 1e9, example.width));
    after.results.push_back(
        example_result(example.name, 1 << 20, example.after * 1e9, example.width));
  }
  return compare_verdict(compare(before, after, 0.02), 0.02, below);
}

TEST(CompareVerdict, StartsWithWorstFinding) {
  EXPECT_EQ(verdict_line({{"a", 50, 50}, {"b", 50, 50.2}}), "same: nothing is slower or faster");
  EXPECT_EQ(verdict_line({{"a", 50, 60}, {"b", 50, 50}}), "faster: 1 of 2 (a)");
  EXPECT_EQ(verdict_line({{"a", 50, 60}, {"b", 50, 40}, {"c", 50, 40}}),
            "slower: 2 of 3 (b, c); faster: 1 of 3 (a)");
  EXPECT_EQ(verdict_line({{"a", 50, 40}}, 2), "below 2 thresholds; slower: 1 of 1 (a)");
  EXPECT_EQ(verdict_line({{"a", 50, 50}}, 1), "below 1 threshold");
}

TEST(CompareVerdict, CountsUnclearCases) {
  EXPECT_EQ(
      verdict_line({{"a", 50, 50}, {"b", 50, 50, 0.1}}),
      "same: nothing is slower or faster; 1 of 2 too noisy or too close to 2 % for a verdict");
  EXPECT_EQ(verdict_line({{"a", 50, 40}, {"b", 50, 50, 0.1}}),
            "slower: 1 of 2 (a); 1 of 2 too noisy or too close to 2 % for a verdict");
  EXPECT_EQ(verdict_line({{"b", 50, 50, 0.1}}),
            "unclear: 1 of 1 too noisy or too close to 2 % for a verdict");
}

TEST(CompareVerdict, CountsWrongDataAndUnmeasuredCases) {
  benchmark_run both =
      example_run();  // one case is the same, one has wrong data, two were not measured
  EXPECT_EQ(compare_verdict(compare(both, both, 0.02), 0.02, 0),
            "wrong data: 1 of 4 (d2d/copy at 1 MiB); 2 of 4 not measured");
  both.results.erase(both.results.begin(), both.results.begin() + 2);
  EXPECT_EQ(compare_verdict(compare(both, both, 0.02), 0.02, 0), "unclear: 2 of 2 not measured");
}

TEST(CompareVerdict, NamesDifferentDriver) {
  EXPECT_EQ(verdict_line({{"a", 50, 40}}, 0, 13020),
            "slower, on a different device, driver or runtime: 1 of 1 (a)");
  EXPECT_EQ(verdict_line({{"a", 50, 50}}, 0, 13020), "same: nothing is slower or faster");
}

TEST(CompareVerdict, ListsFirstFiveNames) {
  EXPECT_EQ(verdict_line({{"a", 5, 4},
                          {"b", 5, 4},
                          {"c", 5, 4},
                          {"d", 5, 4},
                          {"e", 5, 4},
                          {"f", 5, 4},
                          {"g", 5, 4}}),
            "slower: 7 of 7 (a, b, c, d, e and 2 more)");
}

}  // namespace
}  // namespace rocbench
