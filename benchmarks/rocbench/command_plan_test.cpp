// SPDX-License-Identifier: MIT
#include "command_plan.hpp"

#include <gtest/gtest.h>

#include "case_list.hpp"
#include "machine_limits.hpp"

namespace rocbench {
namespace {

command_line with_command(command_kind command) {
  command_line result;
  result.command = command;
  return result;
}

TEST(PlannedSizes, AreThoseOfSizeOptionOrCommandDefaultsUpToLargest) {
  EXPECT_EQ(planned_sizes(with_command(command_kind::run), 1 << 20, 0),
            (std::vector<std::uint64_t>{1 << 20}));
  EXPECT_EQ(planned_sizes(with_command(command_kind::sweep), 70000, 0),
            (std::vector<std::uint64_t>{4096, 16384, 65536}));
  EXPECT_EQ(planned_sizes(with_command(command_kind::check), 5000, 0),
            (std::vector<std::uint64_t>{1, 4097}));
  command_line options = with_command(command_kind::sweep);
  options.sizes = {7, 1 << 30};
  EXPECT_EQ(planned_sizes(options, 10, 0), options.sizes);
}

TEST(PlannedMeasuring, UsesTimeOptionsOrCommandDefaults) {
  EXPECT_EQ(planned_measuring(with_command(command_kind::run)).max_time, 0.9);
  EXPECT_EQ(planned_measuring(with_command(command_kind::run)).rounds, 2u);
  EXPECT_EQ(planned_measuring(with_command(command_kind::check)).rounds, 1u);
  command_line options = with_command(command_kind::run);
  options.max_time = 0.05;
  EXPECT_EQ(planned_measuring(options).max_time, 0.05);
  EXPECT_EQ(planned_measuring(options).min_time, 0.05);
  options = with_command(command_kind::run);
  options.min_time = 30;
  EXPECT_EQ(planned_measuring(options).max_time, 30);
}

TEST(PlannedMeasuring, HasExtraRoundsOnlyForRunWithoutMaxTime) {
  command_line options = with_command(command_kind::run);
  ASSERT_TRUE(planned_measuring(options).extra);
  options.min_time = 1;
  EXPECT_TRUE(planned_measuring(options).extra);
  options.max_time = 2;
  EXPECT_FALSE(planned_measuring(options).extra);
  for (command_kind const command :
       {command_kind::sweep, command_kind::latency, command_kind::alloc, command_kind::check}) {
    EXPECT_FALSE(planned_measuring(with_command(command)).extra);
  }
  for (like_tool const tool : {like_tool::nvbandwidth, like_tool::babelstream}) {
    command_line like = with_command(command_kind::run);
    like.like = tool;
    EXPECT_FALSE(planned_measuring(like).extra);
  }
}

TEST(LikeNvbandwidth, UsesItsSizeCountsAndCases) {
  command_line options = with_command(command_kind::run);
  options.like = like_tool::nvbandwidth;
  EXPECT_EQ(planned_sizes(options, 4096, 4096), (std::vector<std::uint64_t>{512u << 20}));
  measure_options const measuring = planned_measuring(options);
  ASSERT_TRUE(measuring.fixed);
  EXPECT_EQ(measuring.fixed->warm_ups, 4u);
  EXPECT_EQ(measuring.fixed->batch, 16u);
  EXPECT_EQ(measuring.fixed->samples, 3u);
  EXPECT_EQ(measuring.rounds, 1u);
  EXPECT_EQ(planned_cases(options).size(), 4u);
}

TEST(LikeBabelstream, UsesItsArraysLoopsStatisticAndKernels) {
  command_line options = with_command(command_kind::run);
  options.like = like_tool::babelstream;
  EXPECT_EQ(planned_sizes(options, 4096, babelstream_bytes + 5),
            (std::vector<std::uint64_t>{sizeof(double) << 28}));
  // Limited by memory, unless --size is given.
  EXPECT_EQ(planned_sizes(options, 4096, 1000), (std::vector<std::uint64_t>{512}));
  options.sizes = {24};
  EXPECT_EQ(planned_sizes(options, 4096, 1000), options.sizes);
  measure_options const measuring = planned_measuring(options);
  ASSERT_TRUE(measuring.fixed);
  EXPECT_EQ(measuring.fixed->warm_ups, 0u);
  EXPECT_EQ(measuring.fixed->batch, 1u);
  EXPECT_EQ(measuring.fixed->samples, 100u);
  EXPECT_TRUE(measuring.fixed->synchronize_each);
  EXPECT_TRUE(measuring.fixed->report_fastest);
  EXPECT_EQ(measuring.rounds, 1u);
  EXPECT_EQ(planned_cases(options).size(), 10u);
}

TEST(LimitOf, IsDeviceMemoryForStreamCasesAndLinkForMappedCases) {
  machine_limits limits;
  limits.link = {64e9, "link"};
  limits.device_memory = {3e12, "memory"};
  auto const limit_of_case = [&](char const* name) {
    return limit_of(matching_cases({name}).at(0), limits);
  };
  for (char const* name : {"stream/copy", "raw/stream/triad", "stream/dot"}) {
    EXPECT_EQ(limit_of_case(name).origin, "memory") << name;
    EXPECT_EQ(matching_cases({name}).at(0).counted, accounting::traffic) << name;
  }
  for (char const* name :
       {"mapped/read", "raw/mapped/write", "managed/fault", "managed/prefetch"}) {
    EXPECT_EQ(limit_of_case(name).origin, "link") << name;
    EXPECT_EQ(matching_cases({name}).at(0).counted, accounting::payload) << name;
  }
  // On the CPU, work that reads and writes is limited by the measured copy; work that only reads
  // has no measured limit.
  limits.host_copy = {10e9, "copy"};
  EXPECT_EQ(limit_of_case("stream/triad").rate, 20e9);
  EXPECT_EQ(limit_of_case("mapped/read").rate, 10e9);
  EXPECT_FALSE(limit_of_case("stream/dot").rate);
}

// Every library case for which HIP has a call is followed by its raw counterpart.
TEST(AllCases, ListRawCounterpartAfterEachCase) {
  auto const& cases = all_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string const& name = cases[i].name;
    if (name.starts_with("raw/") || name.starts_with("permute/") || name == "fill/float") continue;
    ASSERT_LT(i + 1, cases.size());
    EXPECT_EQ(cases[i + 1].name, "raw/" + name);
  }
}

TEST(PlannedCases, AreNotEmptyAndDefaultSetFitsHalfMinute) {
  for (command_kind const command : {command_kind::run, command_kind::sweep, command_kind::latency,
                                     command_kind::alloc, command_kind::check}) {
    EXPECT_FALSE(planned_cases(with_command(command)).empty());
  }
  EXPECT_EQ(planned_cases(with_command(command_kind::sweep)).size(), 10u);
  // Less than half a minute even if all cases are noisy. Of the kernels, only the pair that shows
  // the cost of a view is a default case.
  double const max_time = planned_measuring(with_command(command_kind::run)).max_time;
  EXPECT_LT(static_cast<double>(planned_cases(with_command(command_kind::run)).size()) * max_time,
            25);
  extra_rounds const extra = planned_measuring(with_command(command_kind::run)).extra.value();
  EXPECT_LT(extra.deadline + extra.time, 30);
  auto const is_default = [](char const* name) { return matching_cases({name}).at(0).by_default; };
  EXPECT_TRUE(is_default("stream/triad") && is_default("raw/stream/triad"));
  EXPECT_FALSE(is_default("stream/copy") || is_default("mapped/read") ||
               is_default("managed/fault"));
  command_line options = with_command(command_kind::run);
  options.cases = {"nonsense"};
  EXPECT_TRUE(planned_cases(options).empty());
}

}  // namespace
}  // namespace rocbench
