// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

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

TEST(ParseCommandLine, ReadsElementsOf1To16Bytes) {
  EXPECT_EQ(parse({"run"}).element, 4u);
  for (std::uint64_t bytes = 1; bytes <= 16; ++bytes)
    EXPECT_EQ(parse({"run", "--element", std::to_string(bytes).c_str()}).element, bytes);
}

TEST(ParseCommandLine, ErrorsNameInvalidValue) {
  std::string const long_number(100'000, '1');
  struct {
    std::vector<char const*> arguments;
    char const* message;
  } const cases[] = {
      {{"--size", "17179869185G"}, "--size: '17179869185G' is not a size from 1 byte to 16 EiB"},
      {{"--size", "99999999999999999999"}, "'99999999999999999999' is not a size"},
      {{"--size", long_number.c_str()}, "11' is not a size"},
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
      {{"--element", "0"}, "--element: Value 0 not in range"},
      {{"--element", "17"}, "--element: Value 17 not in range"},
      {{"--element", "1.5"}, "--element: Value 1.5 not in range"},
      {{"--like", "x"}, "--like: x is not one of nvbandwidth, babelstream"},
      {{"--inject=x"}, "--inject: x is not one of data, gap, before, after"},
      {{"--json", "-", "--csv", "-"}, "--json and --csv both write to standard output (-)"},
      {{"--json", "a", "--csv", "a"}, "--json and --csv both write to a;"},
      {{"compare", "a", "b", "--tolerance", "nan"}, "--tolerance: nan is not a number from 0 to"},
      {{"compare", "a", "b", "--tolerance", "-2"}, "--tolerance: -2 is not a number from 0 to 100"},
  };
  for (auto const& [arguments, message] : cases)
    EXPECT_NE(error_of(arguments).find(message), std::string::npos) << error_of(arguments);
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
      for (char const* noise : {"UINT", "TEXT", "FLOAT", "NONNEGATIVE", "{"})
        EXPECT_EQ(line.find(noise), std::string::npos) << line;
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

// Sizes up to 70000 and the cases of each command, and the time options or the command's defaults.
TEST(MakePlan, UsesOptionsOrDefaultsOfCommand) {
  struct {
    std::vector<char const*> arguments;
    sizes expected;
    std::size_t cases;  // 0: the default set
    double min_time;
    double max_time;
    unsigned rounds;
    bool has_extra;
  } const rows[] = {
      {{"run"}, {70000}, 0, 0.2, 0.5, 2, true},
      {{"run", "--size", "7,1G"}, {7, 1 << 30}, 0, 0.2, 0.5, 2, true},
      {{"run", "--max-time", "0.05"}, {70000}, 0, 0.05, 0.05, 2, false},
      {{"run", "--min-time", "30"}, {70000}, 0, 30, 30, 2, true},
      {{"run", "--min-time", "1", "--max-time", "2"}, {70000}, 0, 1, 2, 2, false},
      {{"sweep"}, {4096, 16384, 65536}, 10, 0.1, 0.5, 2, false},
      {{"latency"}, {4, 4096, 65536}, 10, 0.2, 1, 2, false},
      {{"alloc", "--rounds", "3"}, {4096}, 10, 0.2, 1, 3, false},
      {{"check"}, {1, 4097}, all_cases().size(), 0, 0, 1, false},
      {{"check", "h2d/pinned"}, {1, 4097}, 1, 0, 0, 1, false},
      {{"--like", "nvbandwidth"}, {512u << 20}, 4, 0, 0, 1, false},
      {{"--like", "babelstream"}, {sizeof(double) << 28}, 10, 0, 0, 1, false},
  };
  for (auto const& row : rows) {
    measuring_plan const plan = make_plan(parse(row.arguments), 70000, babelstream_bytes + 5);
    char const* const last = row.arguments.back();
    EXPECT_EQ(plan.sizes, row.expected) << last;
    EXPECT_EQ(plan.cases().size(), row.cases == 0 ? default_cases().size() : row.cases) << last;
    EXPECT_EQ(plan.measuring.min_time, row.min_time) << last;
    EXPECT_EQ(plan.measuring.max_time, row.max_time) << last;
    EXPECT_EQ(plan.measuring.rounds, row.rounds) << last;
    EXPECT_EQ(plan.measuring.extra.has_value(), row.has_extra) << last;
  }
}

// Only the command run, and only without --size.
TEST(MakePlan, MeasuresSmallCallsAtUsualSizes) {
  benchmark_case const small = matching_cases({"latency/h2d/pinned"}).at(0);
  benchmark_case const large = matching_cases({"h2d/pinned"}).at(0);
  measuring_plan const plan = make_plan(parse({"run"}), 70000);
  EXPECT_EQ(plan.sizes_of(small), sizes{4});
  EXPECT_EQ(plan.sizes_of(large), sizes{70000});
  // Never more than fits.
  EXPECT_EQ(plan.sizes_of(matching_cases({"alloc/device"}).at(0)), sizes{70000});
  EXPECT_EQ(make_plan(parse({"run", "--size", "7,8"}), 70000).sizes_of(small), (sizes{7, 8}));
  EXPECT_EQ(make_plan(parse({"latency"}), 70000).sizes_of(small), (sizes{4, 4096, 65536}));
}

TEST(MakePlan, UsesCountsAndLargestArrayOfOtherTool) {
  fixed_counts fixed = make_plan(parse({"--like", "nvbandwidth"})).measuring.fixed.value();
  EXPECT_TRUE(fixed.warm_ups == 4 && fixed.batch == 16 && fixed.samples == 3);
  EXPECT_FALSE(fixed.synchronize_each || fixed.report_fastest);
  command_line options = parse({"--like", "babelstream"});
  fixed = make_plan(options).measuring.fixed.value();
  EXPECT_TRUE(fixed.warm_ups == 0 && fixed.batch == 1 && fixed.samples == 100);
  EXPECT_TRUE(fixed.synchronize_each && fixed.report_fastest);
  // Limited by memory, unless --size is given.
  EXPECT_EQ(make_plan(options, 4096, 1000).sizes, sizes{512});
  options.sizes = {24};
  EXPECT_EQ(make_plan(options, 4096, 1000).sizes, options.sizes);
}

// Less than half a minute even if all cases are noisy.
TEST(MakePlan, DefaultSetFitsHalfMinute) {
  measuring_plan const plan = make_plan(parse({"run"}));
  EXPECT_LT(static_cast<double>(plan.cases().size()) * plan.measuring.max_time, 25);
  EXPECT_LT(plan.measuring.extra->deadline + plan.measuring.extra->time, 30);
}

// Each kind of work is in the set, with its raw counterpart if there is one.
TEST(DefaultCases, CoverEachKindOfWork) {
  auto const cases = default_cases();
  auto const contains = [&](std::string const& name) {
    return std::ranges::find(cases, name, &benchmark_case::name) != cases.end();
  };
  for (char const* const name : {"h2d/pinned",
                                 "h2d/pageable",
                                 "h2d/just_written",
                                 "d2h/pinned",
                                 "d2h/pageable",
                                 "d2h/new_array",
                                 "d2d/copy",
                                 "async/h2d/pageable",
                                 "async/d2h/pageable",
                                 "async/bidir/pageable",
                                 "async/tiles/pageable",
                                 "strided/2d/h2d",
                                 "strided/2d/d2h",
                                 "strided/2d/h2d/pageable",
                                 "strided/2d/d2h/pageable",
                                 "box/interior",
                                 "box/compact",
                                 "batch/h2d",
                                 "fill/byte",
                                 "for_each/3d",
                                 "latency/h2d/pinned",
                                 "latency/d2h/pageable",
                                 "alloc/device"}) {
    EXPECT_TRUE(contains(name)) << name;
    EXPECT_TRUE(contains(std::string("raw/") + name)) << name;
  }
  EXPECT_TRUE(contains("permute/021/d2d"));
  EXPECT_EQ(cases.size(), 47u);
}

TEST(LimitOf, IsThatOfDeviceMemoryOrLinkOnGpuAndOfCopyOnHost) {
  struct {
    char const* name;
    accounting counted;
    char const* origin;               // on a GPU
    std::optional<double> host_rate;  // if copies in host memory reach 10 GB/s
    bool by_default;
  } const rows[] = {
      {"stream/triad", accounting::traffic, "memory", 20e9, false},
      {"for_each/3d", accounting::traffic, "memory", 20e9, true},
      {"raw/for_each/3d", accounting::traffic, "memory", 20e9, true},
      {"for_each/stencil", accounting::traffic, "memory", 20e9, false},
      {"box/interior", accounting::traffic, "memory", 20e9, true},
      {"stream/copy", accounting::traffic, "memory", 20e9, false},
      // Work that only reads has no measured limit on the host.
      {"stream/dot", accounting::traffic, "memory", std::nullopt, false},
      {"mapped/read", accounting::payload, "link", 10e9, false},
      {"raw/mapped/write", accounting::payload, "link", 10e9, false},
      {"managed/fault", accounting::payload, "link", 10e9, false},
      {"managed/prefetch", accounting::payload, "link", 10e9, false},
  };
  machine_limits const gpu{{64e9, "link"}, {3e12, "memory"}, {}};
  machine_limits const host{{}, {}, {10e9, "copy"}};
  for (auto const& row : rows) {
    benchmark_case const selected = matching_cases({row.name}).at(0);
    EXPECT_EQ(selected.counted, row.counted) << row.name;
    EXPECT_EQ(selected.by_default, row.by_default) << row.name;
    EXPECT_EQ(limit_of(selected, gpu).origin, row.origin) << row.name;
    EXPECT_EQ(limit_of(selected, host).rate, row.host_rate) << row.name;
  }
}

// Every library case for which HIP has a call is followed by its raw counterpart.
TEST(AllCases, ListRawCounterpartAfterEachCaseAndFitTerminal) {
  auto const& cases = all_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string const& name = cases[i].name;
    // The list has a column of 27 characters for names; few names are longer.
    EXPECT_LE(name.size(), 30u) << name;
    EXPECT_LE(std::max<std::size_t>(name.size(), 27) + cases[i].description.size(), 77u)
        << name << ": " << cases[i].description;
    if (name.starts_with("raw/") || name.starts_with("permute/") || name.starts_with("reverse/") ||
        name == "fill/float" || name.ends_with("/transposed") ||
        (name.starts_with("collective/") && name.ends_with("/rows"))) {
      continue;
    }
    ASSERT_LT(i + 1, cases.size());
    EXPECT_EQ(cases[i + 1].name, "raw/" + name);
  }
}

}  // namespace
}  // namespace rocbench
