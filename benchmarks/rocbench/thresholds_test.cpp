// SPDX-License-Identifier: MIT
#include "thresholds.hpp"

#include <gtest/gtest.h>

#include "example_run.hpp"
#include "text_file.hpp"

namespace rocbench {
namespace {

// The example's h2d/pinned reaches 32 GB/s: 50 % of its limit, and 100 % of before.
threshold_results check(char const* text) {
  static benchmark_run const run = example_run();
  return check_thresholds(parse_thresholds(text, "t"), compare(run, run, 0.02));
}

TEST(CheckThresholds, ComparesInEachUnit) {
  for (char const* line :
       {"h2d/pinned 31.9 GB/s", "h2d/* 49 % of limit", "h2d/p* 99 % of before"}) {
    EXPECT_TRUE(check(line).below.empty()) << line;
    EXPECT_TRUE(check(line).unchecked.empty()) << line;
  }
  for (char const* line : {"h2d/pinned 33 GB/s", "h2d/* 51 % of limit", "h2d/p* 101 % of before"}) {
    EXPECT_EQ(check(line).below.size(), 1u) << line;
  }
  EXPECT_EQ(check("h2d/pinned 33 GB/s").below[0],
            "h2d/pinned at 1 MiB reaches only 32.00 GB/s; the threshold is: h2d/pinned 33 GB/s");
}

TEST(CheckThresholds, ListsThresholdsWithoutMeasuredValue) {
  EXPECT_EQ(check("nonsense 1 GB/s").unchecked.size(), 1u);
  EXPECT_EQ(check("d2d/copy 50 % of limit").unchecked.size(), 1u);  // unknown limit
  EXPECT_EQ(check("d2h/pinned 1 GB/s").unchecked.size(), 1u);       // failed case
}

TEST(ParseThresholds, IgnoresCommentsAndEmptyLines) {
  EXPECT_EQ(parse_thresholds("# a comment\n\n  \n h2d/* 1 GB/s \r\nraw/* 2 % of limit", "t").size(),
            2u);
}

TEST(ParseThresholds, RefusesOtherLinesWithLocation) {
  for (char const* line : {"h2d", "h2d 5", "h2d five GB/s", "h2d 5 MB/s", "h2d -5 GB/s",
                           "h2d nan GB/s", "h2d 1e999 GB/s", "h2d 5 GB/s more"}) {
    try {
      parse_thresholds(std::string("# x\n") + line, "file");
      ADD_FAILURE() << line;
    } catch (input_error const& e) {
      EXPECT_TRUE(std::string_view(e.what()).starts_with("file:2: '")) << e.what();
    }
  }
}

}  // namespace
}  // namespace rocbench
