// SPDX-License-Identifier: MIT
#include "thresholds.hpp"

#include <gtest/gtest.h>

#include "example_document.hpp"
#include "json_reader.hpp"

namespace rocbench {
namespace {

// The example reaches 32 GB/s in h2d/pinned, which is 50 % of its limit and as much as before.
threshold_verdict held(char const* text) {
  static document const run = example_document();
  return check_thresholds(parse_thresholds(text, "t"), compare(run, run, 0.02));
}

TEST(thresholds, are_held_in_each_unit) {
  for (char const* line :
       {"h2d/pinned 31.9 GB/s", "h2d/* 49 % of limit", "h2d/p* 99 % of before"}) {
    EXPECT_TRUE(held(line).below.empty()) << line;
    EXPECT_TRUE(held(line).unchecked.empty()) << line;
  }
  for (char const* line : {"h2d/pinned 33 GB/s", "h2d/* 51 % of limit", "h2d/p* 101 % of before"}) {
    EXPECT_EQ(held(line).below.size(), 1u) << line;
  }
  EXPECT_EQ(held("h2d/pinned 33 GB/s").below[0],
            "h2d/pinned at 1 MiB reaches 32.00 GB/s: h2d/pinned 33 GB/s");
}

TEST(thresholds, that_nothing_can_be_held_against_are_told) {
  EXPECT_EQ(held("nonsense 1 GB/s").unchecked.size(), 1u);
  EXPECT_EQ(held("d2d/copy 50 % of limit").unchecked.size(), 1u);  // the limit is not known
  EXPECT_EQ(held("d2h/pinned 1 GB/s").unchecked.size(), 1u);       // it failed
}

TEST(thresholds, comments_and_empty_lines_are_none) {
  EXPECT_EQ(parse_thresholds("# a comment\n\n  \n h2d/* 1 GB/s \r\nraw/* 2 % of limit", "t").size(),
            2u);
}

TEST(thresholds, other_lines_are_refused_with_their_place) {
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
