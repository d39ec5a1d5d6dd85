// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "machine.hpp"
#include "run_command.hpp"

namespace rocbench {
namespace {

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
      {{"--size", "17179869185G"}, "--size: '17179869185G' is not a size from 1 byte to 16 EiB"},
      {{"--size", "99999999999999999999"}, "'99999999999999999999' is not a size"},
      {{"--size", "4K,0"}, "'0' is not a size"},
      {{"--size", "5X"}, "'5X' is not a size"},
      {{"--size", "4i"}, "'4i' is not a size"},
      {{"--size", "-1"}, "'-1' is not a size"},
      {{"--row", "16E"}, "--row: '16E' is not a size"},
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
  for (auto const& [name, nearest] : std::initializer_list<std::pair<char const*, char const*>>{
           {"d2h/pinned", "d2h/pinned"},
           {"sweeep", "sweep"},
           {"swep", "sweep"},
           {"h2d/pinnet", "h2d/pinned"},
           {"rnu", "run"},
           {"x2y/pinned", "h2d/pinned"},  // the first of two
           {"nonsense", ""},
           {"", ""}}) {
    EXPECT_EQ(nearest_name(name, names), nearest);
  }
}

using sizes = std::vector<std::uint64_t>;

TEST(PlannedSizes, AreThoseOfSizeOptionOrCommandDefaultsUpToLargest) {
  EXPECT_EQ(make_plan(parse({"run"}), 1 << 20, 0).sizes, sizes{1 << 20});
  EXPECT_EQ(make_plan(parse({"sweep"}), 70000, 0).sizes, (sizes{4096, 16384, 65536}));
  EXPECT_EQ(make_plan(parse({"check"}), 5000, 0).sizes, (sizes{1, 4097}));
  command_line options = parse({"sweep"});
  options.sizes = {7, 1 << 30};
  EXPECT_EQ(make_plan(options, 10, 0).sizes, options.sizes);
}

TEST(PlannedMeasuring, UsesTimeOptionsOrCommandDefaults) {
  struct {
    std::vector<char const*> arguments;
    double min_time;
    double max_time;
    unsigned rounds;
    bool has_extra;
  } const rows[] = {
      {{"run"}, 0.2, 0.9, 2, true},
      {{"run", "--max-time", "0.05"}, 0.05, 0.05, 2, false},
      {{"run", "--min-time", "30"}, 30, 30, 2, true},
      {{"run", "--min-time", "1", "--max-time", "2"}, 1, 2, 2, false},
      {{"sweep"}, 0.1, 0.5, 2, false},
      {{"latency"}, 0.2, 1, 2, false},
      {{"alloc", "--rounds", "3"}, 0.2, 1, 3, false},
      {{"check"}, 0, 0, 1, false},
      {{"--like", "nvbandwidth"}, 0, 0, 1, false},
      {{"--like", "babelstream"}, 0, 0, 1, false},
  };
  for (auto const& row : rows) {
    measure_options const planned = make_plan(parse(row.arguments)).measuring;
    EXPECT_EQ(planned.min_time, row.min_time) << row.arguments.back();
    EXPECT_EQ(planned.max_time, row.max_time) << row.arguments.back();
    EXPECT_EQ(planned.rounds, row.rounds) << row.arguments.back();
    EXPECT_EQ(planned.extra.has_value(), row.has_extra) << row.arguments.back();
  }
}

TEST(Like, UsesSizesCountsAndCasesOfOtherTool) {
  command_line options = parse({"--like", "nvbandwidth"});
  EXPECT_EQ(make_plan(options, 4096, 4096).sizes, sizes{512u << 20});
  EXPECT_EQ(make_plan(options).cases().size(), 4u);
  fixed_counts fixed = make_plan(options).measuring.fixed.value();
  EXPECT_TRUE(fixed.warm_ups == 4 && fixed.batch == 16 && fixed.samples == 3);
  EXPECT_FALSE(fixed.synchronize_each || fixed.report_fastest);
  options = parse({"--like", "babelstream"});
  EXPECT_EQ(make_plan(options, 4096, babelstream_bytes + 5).sizes, sizes{sizeof(double) << 28});
  EXPECT_EQ(make_plan(options).cases().size(), 10u);
  fixed = make_plan(options).measuring.fixed.value();
  EXPECT_TRUE(fixed.warm_ups == 0 && fixed.batch == 1 && fixed.samples == 100);
  EXPECT_TRUE(fixed.synchronize_each && fixed.report_fastest);
  // Limited by memory, unless --size is given.
  EXPECT_EQ(make_plan(options, 4096, 1000).sizes, sizes{512});
  options.sizes = {24};
  EXPECT_EQ(make_plan(options, 4096, 1000).sizes, options.sizes);
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
TEST(AllCases, ListRawCounterpartAfterEachCaseAndFitTerminal) {
  auto const& cases = all_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string const& name = cases[i].name;
    EXPECT_LE(name.size(), 27u) << name;
    EXPECT_LE(cases[i].description.size(), 50u) << name << ": " << cases[i].description;
    if (name.starts_with("raw/") || name.starts_with("permute/") || name == "fill/float") continue;
    ASSERT_LT(i + 1, cases.size());
    EXPECT_EQ(cases[i + 1].name, "raw/" + name);
  }
}

TEST(PlannedCases, AreNotEmptyAndDefaultSetFitsHalfMinute) {
  for (char const* command : {"run", "sweep", "latency", "alloc", "check"}) {
    EXPECT_FALSE(make_plan(parse({command})).cases().empty());
  }
  EXPECT_EQ(make_plan(parse({"sweep"})).cases().size(), 10u);
  // Less than half a minute even if all cases are noisy. Of the kernels, only the pair that shows
  // the cost of a view is a default case.
  double const max_time = make_plan(parse({"run"})).measuring.max_time;
  EXPECT_LT(static_cast<double>(make_plan(parse({"run"})).cases().size()) * max_time, 25);
  extra_rounds const extra = make_plan(parse({"run"})).measuring.extra.value();
  EXPECT_LT(extra.deadline + extra.time, 30);
  auto const is_default = [](char const* name) { return matching_cases({name}).at(0).by_default; };
  EXPECT_TRUE(is_default("stream/triad") && is_default("raw/stream/triad"));
  EXPECT_FALSE(is_default("stream/copy") || is_default("mapped/read") ||
               is_default("managed/fault"));
  command_line options = parse({"run"});
  options.cases = {"nonsense"};
  EXPECT_TRUE(make_plan(options).cases().empty());
}

}  // namespace
}  // namespace rocbench
