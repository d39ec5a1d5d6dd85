// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "machine_limits.hpp"
#include "run_command.hpp"

namespace rocbench {
namespace {

command_line with_command(command_kind command) {
  command_line result;
  result.command = command;
  return result;
}

// Returns the options, or throws the error message on standard error.
command_line parse(std::vector<char const*> arguments) {
  arguments.insert(arguments.begin(), "rocbench");
  testing::internal::CaptureStderr();
  auto const parsed = parse_command_line(static_cast<int>(arguments.size()), arguments.data());
  std::string const message = testing::internal::GetCapturedStderr();
  if (auto const* const options = std::get_if<command_line>(&parsed)) return *options;
  throw std::runtime_error(message);
}

std::string error_of(std::vector<char const*> const& arguments) {
  try {
    parse(arguments);
  } catch (std::runtime_error const& e) {
    return e.what();
  }
  return "no error";
}

TEST(ParseCommandLine, ReadsSizesWithUnits) {
  auto const sizes = parse({"run", "--size", "17,4K,4kib,1M,2GB,1T,16383P,15E"}).sizes;
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{17, 4096, 4096, 1 << 20, std::uint64_t{2} << 30,
                                               std::uint64_t{1} << 40, std::uint64_t{16383} << 50,
                                               std::uint64_t{15} << 60}));
}

TEST(ParseCommandLine, ErrorsNameInvalidValue) {
  struct {
    std::vector<char const*> arguments;
    char const* message;
  } const cases[] = {
      {{"--size", "17179869185G"}, "--size: 17179869185G is more than 16 EiB"},
      {{"--size", "99999999999999999999"}, "99999999999999999999 is more than 16 EiB"},
      {{"--size", "4K,0"}, "size 0 is not allowed"},
      {{"--size", "5X"}, "'5X' is not a size"},
      {{"--size", "-1"}, "'-1' is not a size"},
      {{"--row", "16E"}, "--row: 16E is more than 16 EiB"},
      {{"--row", "15E"}, "--row 17293822569102704640 is more than a row can have"},
      {{"--row", "4K", "--pitch", "1K"}, "pitch 1024 is less than row 4096"},
      {{"--min-time", "nan"}, "--min-time: nan is not a number from 0 to"},
      {{"--max-time", "-1"}, "--max-time: -1 is not a number from 0 to"},
      {{"--max-time", "inf"}, "--max-time: inf is not a number from 0 to"},
      {{"--rounds", "-3"}, "--rounds: Value -3 not in range"},
      {{"--device", "-1"}, "--device: Value -1 not in range"},
      {{"--device", "4294967296"}, "--device: Value 4294967296 not in range"},
      {{"--element", "3"}, "--element: 3 not in {1,2,4,8,16}"},
      {{"--like", "x"}, "--like: x is not one of nvbandwidth, babelstream"},
      {{"--inject=x"}, "--inject: x is not one of data, gap, before, after"},
      {{"--json", "-", "--csv", "-"}, "--json and --csv both write to standard output (-)"},
      {{"--json", "a", "--csv", "a"}, "--json and --csv both write to a;"},
      {{"compare", "a", "b", "--tolerance", "nan"}, "--tolerance: nan is not a number from 0 to"},
      {{"compare", "a", "b", "--tolerance", "-2"}, "--tolerance: -2 is not a number from 0 to 100"},
  };
  for (auto const& [arguments, message] : cases) {
    EXPECT_NE(error_of(arguments).find(message), std::string::npos) << error_of(arguments);
  }
}

TEST(ParseCommandLine, HelpFitsTerminal) {
  for (char const* command : {"", "run", "list", "doctor", "compare", "report"}) {
    std::vector<char const*> arguments{"rocbench", command, "--help"};
    if (*command == '\0') arguments.erase(arguments.begin() + 1);
    testing::internal::CaptureStdout();
    EXPECT_EQ(std::get<exit_code>(
                  parse_command_line(static_cast<int>(arguments.size()), arguments.data())),
              exit_code::ok);
    std::istringstream help(testing::internal::GetCapturedStdout());
    for (std::string line; std::getline(help, line);) {
      EXPECT_LE(line.size(), 80u) << line;
      for (char const* noise : {"UINT", "TEXT", "FLOAT", "NONNEGATIVE", "{"}) {
        EXPECT_EQ(line.find(noise), std::string::npos) << line;
      }
    }
  }
}

TEST(NearestName, CorrectsInsertionDeletionSubstitutionAndSwap) {
  std::vector<std::string> const names{"run", "sweep", "h2d/pinned", "d2h/pinned", "h2d/pageable"};
  EXPECT_EQ(nearest_name("d2h/pinned", names), "d2h/pinned");
  EXPECT_EQ(nearest_name("sweeep", names), "sweep");
  EXPECT_EQ(nearest_name("swep", names), "sweep");
  EXPECT_EQ(nearest_name("h2d/pinnet", names), "h2d/pinned");
  EXPECT_EQ(nearest_name("rnu", names), "run");
  EXPECT_EQ(nearest_name("x2y/pinned", names), "h2d/pinned");  // the first of two
  EXPECT_EQ(nearest_name("nonsense", names), "");
  EXPECT_EQ(nearest_name("", names), "");
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

TEST(AllCases, FitTerminal) {
  for (benchmark_case const& listed : all_cases()) {
    EXPECT_LE(listed.name.size(), 27u) << listed.name;
    EXPECT_LE(listed.description.size(), 50u) << listed.name << ": " << listed.description;
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
