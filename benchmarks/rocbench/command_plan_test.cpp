// SPDX-License-Identifier: MIT
#include "command_plan.hpp"

#include <gtest/gtest.h>

#include "limits.hpp"

namespace rocbench {
namespace {

options of(command what) {
  options result;
  result.what = what;
  return result;
}

TEST(command_plan, sizes_are_those_asked_for_or_fit) {
  EXPECT_EQ(planned_sizes(of(command::run), 1 << 20, 0), (std::vector<std::uint64_t>{1 << 20}));
  EXPECT_EQ(planned_sizes(of(command::sweep), 70000, 0),
            (std::vector<std::uint64_t>{4096, 16384, 65536}));
  EXPECT_EQ(planned_sizes(of(command::check), 5000, 0), (std::vector<std::uint64_t>{1, 4097}));
  options asked = of(command::sweep);
  asked.sizes = {7, 1 << 30};
  EXPECT_EQ(planned_sizes(asked, 10, 0), asked.sizes);
}

TEST(command_plan, times_are_those_asked_for_or_the_commands) {
  EXPECT_EQ(planned_measuring(of(command::run)).max_time, 0.9);
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

TEST(command_plan, further_turns_are_of_runs_without_a_most) {
  options asked = of(command::run);
  ASSERT_TRUE(planned_measuring(asked).further);
  asked.min_time = 1;
  EXPECT_TRUE(planned_measuring(asked).further);
  asked.max_time = 2;
  EXPECT_FALSE(planned_measuring(asked).further);
  for (command const other : {command::sweep, command::latency, command::alloc, command::check}) {
    EXPECT_FALSE(planned_measuring(of(other)).further);
  }
  for (like_tool const tool : {like_tool::nvbandwidth, like_tool::babelstream}) {
    options like = of(command::run);
    like.like = tool;
    EXPECT_FALSE(planned_measuring(like).further);
  }
}

TEST(command_plan, like_nvbandwidth_is_its_size_counts_and_cases) {
  options asked = of(command::run);
  asked.like = like_tool::nvbandwidth;
  EXPECT_EQ(planned_sizes(asked, 4096, 4096), (std::vector<std::uint64_t>{512u << 20}));
  measure_options const how = planned_measuring(asked);
  ASSERT_TRUE(how.fixed);
  EXPECT_EQ(how.fixed->warm_ups, 4u);
  EXPECT_EQ(how.fixed->batch, 16u);
  EXPECT_EQ(how.fixed->samples, 3u);
  EXPECT_EQ(how.rounds, 1u);
  EXPECT_EQ(planned_cases(asked).size(), 4u);
}

TEST(command_plan, like_babelstream_is_its_arrays_loops_statistic_and_kernels) {
  options asked = of(command::run);
  asked.like = like_tool::babelstream;
  EXPECT_EQ(planned_sizes(asked, 4096, babelstream_bytes + 5),
            (std::vector<std::uint64_t>{sizeof(double) << 28}));
  // What fits, and what is asked for.
  EXPECT_EQ(planned_sizes(asked, 4096, 1000), (std::vector<std::uint64_t>{512}));
  asked.sizes = {24};
  EXPECT_EQ(planned_sizes(asked, 4096, 1000), asked.sizes);
  measure_options const how = planned_measuring(asked);
  ASSERT_TRUE(how.fixed);
  EXPECT_EQ(how.fixed->warm_ups, 0u);
  EXPECT_EQ(how.fixed->batch, 1u);
  EXPECT_EQ(how.fixed->samples, 100u);
  EXPECT_TRUE(how.fixed->each_waited_for);
  EXPECT_TRUE(how.fixed->by_least_time);
  EXPECT_EQ(how.rounds, 1u);
  EXPECT_EQ(planned_cases(asked).size(), 10u);
}

TEST(cases, of_streams_are_held_against_the_devices_memory_and_mapped_ones_against_the_link) {
  limits known;
  known.link = {64e9, "link"};
  known.device_memory = {3e12, "memory"};
  auto const limit_named = [&](char const* name) {
    return limit_of(matching_cases({name}).at(0), known);
  };
  for (char const* name : {"stream/copy", "raw/stream/triad", "stream/dot"}) {
    EXPECT_EQ(limit_named(name).origin, "memory") << name;
    EXPECT_EQ(matching_cases({name}).at(0).counted, accounting::traffic) << name;
  }
  for (char const* name :
       {"mapped/read", "raw/mapped/write", "managed/fault", "managed/prefetch"}) {
    EXPECT_EQ(limit_named(name).origin, "link") << name;
    EXPECT_EQ(matching_cases({name}).at(0).counted, accounting::payload) << name;
  }
  // Of a CPU: what reads and writes by a measured copy, what only reads by nothing.
  known.host_copy = {10e9, "copy"};
  EXPECT_EQ(limit_named("stream/triad").rate, 20e9);
  EXPECT_EQ(limit_named("mapped/read").rate, 10e9);
  EXPECT_FALSE(limit_named("stream/dot").rate);
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
  // Half a minute's worth, however noisy: of the kernels, the pair that shows what a view costs.
  double const most = planned_measuring(of(command::run)).max_time;
  EXPECT_LT(static_cast<double>(planned_cases(of(command::run)).size()) * most, 25);
  further_turns const further = planned_measuring(of(command::run)).further.value();
  EXPECT_LT(further.deadline + further.time, 30);
  auto const usual = [](char const* name) { return matching_cases({name}).at(0).by_default; };
  EXPECT_TRUE(usual("stream/triad") && usual("raw/stream/triad"));
  EXPECT_FALSE(usual("stream/copy") || usual("mapped/read") || usual("managed/fault"));
  options asked = of(command::run);
  asked.cases = {"nonsense"};
  EXPECT_TRUE(planned_cases(asked).empty());
}

}  // namespace
}  // namespace rocbench
