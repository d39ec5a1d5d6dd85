// SPDX-License-Identifier: MIT
#include "command_plan.hpp"

#include <gtest/gtest.h>

namespace rocbench {
namespace {

options of(command what) {
  options result;
  result.what = what;
  return result;
}

TEST(command_plan, sizes_are_those_asked_for_or_fit) {
  EXPECT_EQ(planned_sizes(of(command::run), 1 << 20), (std::vector<std::uint64_t>{1 << 20}));
  EXPECT_EQ(planned_sizes(of(command::sweep), 70000),
            (std::vector<std::uint64_t>{4096, 16384, 65536}));
  EXPECT_EQ(planned_sizes(of(command::check), 5000), (std::vector<std::uint64_t>{1, 4097}));
  options asked = of(command::sweep);
  asked.sizes = {7, 1 << 30};
  EXPECT_EQ(planned_sizes(asked, 10), asked.sizes);
}

TEST(command_plan, times_are_those_asked_for_or_the_commands) {
  EXPECT_EQ(planned_measuring(of(command::run)).max_time, 2);
  EXPECT_EQ(planned_measuring(of(command::run)).rounds, 2u);
  EXPECT_EQ(planned_measuring(of(command::check)).rounds, 1u);
  options asked = of(command::run);
  asked.max_time = 0.05;
  EXPECT_EQ(planned_measuring(asked).max_time, 0.05);
  EXPECT_EQ(planned_measuring(asked).min_time, 0.05);
  asked = of(command::run);
  asked.min_time = 30;
  EXPECT_EQ(planned_measuring(asked).max_time, 30);
}

// Every library case that HIP has a call for has that call beside it.
TEST(cases, have_the_raw_call_behind_them) {
  auto const& cases = all_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string const& name = cases[i].name;
    if (name.starts_with("raw/") || name.starts_with("permute/") || name == "fill/float") continue;
    ASSERT_LT(i + 1, cases.size());
    EXPECT_EQ(cases[i + 1].name, "raw/" + name);
  }
}

TEST(cases, of_a_command_are_there) {
  for (command const each :
       {command::run, command::sweep, command::latency, command::alloc, command::check}) {
    EXPECT_FALSE(planned_cases(of(each)).empty());
  }
  EXPECT_EQ(planned_cases(of(command::sweep)).size(), 10u);
  options asked = of(command::run);
  asked.cases = {"nonsense"};
  EXPECT_TRUE(planned_cases(asked).empty());
}

}  // namespace
}  // namespace rocbench
