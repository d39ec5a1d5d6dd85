// SPDX-License-Identifier: MIT
// Environment variables: the list of them, the report of misspelled ones, and the options that they
// give a process. A process reads them once, so that death tests do it in their child processes.
#include "base/environment.hpp"

#include <roc/device.hpp>
#include <roc/options.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

bool is_known(std::string_view name) {
  auto const names = roc::base::known_variables();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string read(fs::path const& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Returns the regular files below a directory of the source tree, without the list and this test.
std::vector<fs::path> files_below(char const* directory) {
  std::vector<fs::path> files;
  fs::path const root = fs::path(ROCARRAY_TEST_SOURCE_DIRECTORY) / directory;
  for (auto const& entry : fs::recursive_directory_iterator(root)) {
    bool const is_list = entry.path().parent_path().filename() == "base" &&
                         entry.path().filename() == "environment.cpp";
    bool const is_own = is_list || entry.path().stem() == "environment_test";
    if (entry.is_regular_file() && !is_own) files.push_back(entry.path());
  }
  return files;
}

TEST(KnownVariables, ContainEveryNameReadInSources) {
  // A literal that is a whole name is passed to getenv, directly or through a function that parses
  // the value. Messages and tables contain names within longer literals.
  std::regex const whole_name(R"re("(ROCARRAY_[A-Z0-9_]+)")re");
  std::set<std::string> names;
  for (char const* directory : {"src", "benchmarks"}) {
    for (fs::path const& file : files_below(directory)) {
      auto const extension = file.extension();
      if (extension != ".cpp" && extension != ".hpp" && extension != ".hip") continue;
      std::string const text = read(file);
      for (std::sregex_iterator match(text.begin(), text.end(), whole_name), end; match != end;
           ++match) {
        names.insert((*match)[1]);
        EXPECT_TRUE(is_known((*match)[1].str())) << (*match)[1] << " in " << file;
      }
    }
  }
  EXPECT_TRUE(names.contains("ROCARRAY_STAGING_THRESHOLD"));
  EXPECT_TRUE(names.contains("ROCARRAY_HOST_MODE"));
  EXPECT_TRUE(names.contains("ROCARRAY_LOG"));
}

TEST(KnownVariables, ContainNoNameThatNothingReads) {
  std::string sources;
  for (char const* directory : {"src", "test", "benchmarks", "scripts"}) {
    for (fs::path const& file : files_below(directory)) sources += read(file);
  }
  for (std::string_view const name : roc::base::known_variables()) {
    EXPECT_NE(std::string::npos, sources.find(name)) << name;
  }
}

TEST(KnownVariables, AreUnique) {
  auto const names = roc::base::known_variables();
  EXPECT_EQ(names.size(), std::set<std::string_view>(names.begin(), names.end()).size());
}

TEST(NearestKnownVariable, HasSmallestEditDistance) {
  using roc::base::nearest_known_variable;
  EXPECT_EQ("ROCARRAY_STAGING_THRESHOLD", nearest_known_variable("ROCARRAY_STAGING_TRESHOLD"));
  EXPECT_EQ("ROCARRAY_HOST_MODE", nearest_known_variable("ROCARRAY_HOST_MOOD"));
  EXPECT_EQ("ROCARRAY_HOST_DEVICES", nearest_known_variable("ROCARRAY_HOST_DEVICE"));
  EXPECT_EQ("ROCARRAY_LOG", nearest_known_variable("ROCARRAY_LOGS"));
  EXPECT_EQ("ROCARRAY_LOG", nearest_known_variable("ROCARRAY_"));
  EXPECT_EQ("ROCARRAY_TRACE", nearest_known_variable("ROCARRAY_TRACE"));
}

TEST(NearestKnownVariable, AcceptsNameOfAnyLength) {
  EXPECT_TRUE(is_known(roc::base::nearest_known_variable("")));
  EXPECT_TRUE(is_known(roc::base::nearest_known_variable(std::string(10'000, 'X'))));
}

// Exits with 0 after two threads have read the environment.
[[noreturn]] void report_and_exit(char const* name, char const* value) {
  setenv(name, value, 1);
  std::thread concurrent([] { static_cast<void>(roc::get_options()); });
  static_cast<void>(roc::get_options());
  concurrent.join();
  static_cast<void>(roc::get_options());
  std::_Exit(0);
}

TEST(UnknownVariablesReportDeathTest, NamesNearestVariableOnce) {
  EXPECT_EXIT(report_and_exit("ROCARRAY_STAGING_TRESHOLD", "1M"), testing::ExitedWithCode(0),
              "^rocarray: warning: ROCARRAY_STAGING_TRESHOLD is not a known variable; did you mean "
              "ROCARRAY_STAGING_THRESHOLD\\?\n$");
  EXPECT_EXIT(report_and_exit("ROCARRAY_HOST_RULES", ""), testing::ExitedWithCode(0),
              "^rocarray: warning: ROCARRAY_HOST_RULES is not a known variable; did you mean "
              "ROCARRAY_HOST_[A-Z]+\\?\n$");
}

TEST(UnknownVariablesReportDeathTest, NamesEachUnknownVariable) {
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_TRACES", "calls", 1);
        report_and_exit("ROCARRAY_LOGG", "debug");
      },
      testing::ExitedWithCode(0),
      "^rocarray: warning: ROCARRAY_(TRACES is .* ROCARRAY_TRACE\\?\n.*LOGG is .* "
      "ROCARRAY_LOG|LOGG "
      "is .* ROCARRAY_LOG\\?\n.*TRACES is .* ROCARRAY_TRACE)\\?\n$");
}

// The first call of HIP on the CPU reports variables too.
TEST(UnknownVariablesReportDeathTest, IsMadeByTheHostPlatform) {
#if ROCARRAY_PLATFORM_HOST
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_HOST_DEVICE", "2", 1);
        std::_Exit(roc::device::count());
      },
      testing::ExitedWithCode(1),
      "^rocarray: warning: ROCARRAY_HOST_DEVICE is not a known variable; did you mean "
      "ROCARRAY_HOST_DEVICES\\?\n$");
#else
  GTEST_SKIP() << "HIP is not on the CPU";
#endif
}

TEST(UnknownVariablesReportDeathTest, IsEmptyForKnownVariablesAndOtherPrefixes) {
  EXPECT_EXIT(
      {
        for (std::string_view const name : roc::base::known_variables()) {
          // Their values would be checked by the options.
          if (name.starts_with("ROCARRAY_TEST_")) setenv(name.data(), "1", 1);
        }
        setenv("ROCARRAY_HOST_MODE", "inline", 1);
        setenv("ROC_AQL_QUEUE_SIZE", "1024", 1);
        setenv("ROCARRAYS_LOG", "1", 1);
        report_and_exit("ROCARRAY_STAGING_THRESHOLD", "1M");
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(UnknownVariablesReportDeathTest, IsEmptyIfWarningsAreOff) {
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_LOG", "error", 1);
        report_and_exit("ROCARRAY_STAGING_TRESHOLD", "1M");
      },
      testing::ExitedWithCode(0), "^$");
}

constexpr std::size_t kibi = 1024;

// Exits with 0 if every option has the value of its variable.
[[noreturn]] void set_all_variables_and_exit() {
  setenv("ROCARRAY_COPY_PATH", "packed", 1);
  setenv("ROCARRAY_COPY_THREADS", "3", 1);
  setenv("ROCARRAY_STAGING_THRESHOLD", "0", 1);
  setenv("ROCARRAY_STAGING_LIMIT", "1G", 1);
  setenv("ROCARRAY_STAGING_BLOCK", "2M", 1);
  setenv("ROCARRAY_STAGING_CHUNK", "65536", 1);
  setenv("ROCARRAY_STREAM_STAGING", "values", 1);
  setenv("ROCARRAY_MEMCPY2D_MIN_ROW", "1", 1);
  setenv("ROCARRAY_PINNED_CACHE", "1024G", 1);
  setenv("ROCARRAY_PAGEABLE_CACHE", "3K", 1);
  setenv("ROCARRAY_REGISTER_CHUNK", "128K", 1);
  setenv("ROCARRAY_MEMORY_RESOURCE", "hip_async", 1);
  setenv("ROCARRAY_PEER_ACCESS", "0", 1);
  setenv("ROCARRAY_LOG", "debug", 1);
  setenv("ROCARRAY_TRACE", "calls", 1);
  setenv("ROCARRAY_LEAK_CHECK", "1", 1);
  setenv("ROCARRAY_PROFILER", "off", 1);
  roc::options const expected{.path = roc::copy_path::packed,
                              .copy_threads = 3,
                              .staging_threshold = 0,
                              .staging_limit = kibi * kibi * kibi,
                              .staging_block = 2 * kibi * kibi,
                              .staging_chunk = 64 * kibi,
                              .stream_staging = roc::stream_staging_method::values,
                              .memcpy2d_min_row = 1,
                              .pinned_cache = kibi * kibi * kibi * kibi,
                              .pageable_cache = 3 * kibi,
                              .register_chunk = 128 * kibi,
                              .memory_resource = roc::default_resource::hip_async,
                              .peer_access = false,
                              .log = roc::log_level::debug,
                              .trace_calls = true,
                              .leak_check = true,
                              .profiler_ranges = false};
  std::_Exit(roc::get_options() == expected ? 0 : 1);
}

TEST(OptionsFromEnvironmentDeathTest, HaveTheValuesOfTheVariables) {
  EXPECT_EXIT(set_all_variables_and_exit(), testing::ExitedWithCode(0), "^$");
}

TEST(OptionsFromEnvironmentDeathTest, AreReplacedByThoseOfTheProgram) {
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_STAGING_LIMIT", "1M", 1);
        setenv("ROCARRAY_STAGING_BLOCK", "8K", 1);
        roc::set_options({.staging_limit = 2 * kibi * kibi});
        bool const limit_is_of_program = roc::get_options().staging_limit == 2 * kibi * kibi;
        bool const block_is_of_environment = roc::get_options().staging_block == 8 * kibi;
        std::_Exit(limit_is_of_program && block_is_of_environment ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
}

// A variable with a value that cannot be used, and the warning.
struct invalid_variable {
  char const* name;
  char const* value;
  char const* warning;
};

class InvalidVariableDeathTest : public testing::TestWithParam<invalid_variable> {};

TEST_P(InvalidVariableDeathTest, IsReportedOnceAndReplacedByTheDefault) {
  EXPECT_EXIT(
      {
        setenv(GetParam().name, GetParam().value, 1);
        roc::options const values = roc::get_options();
        bool const are_defaults =
            values.staging_limit == 64 * kibi * kibi && values.pinned_cache == 256 * kibi * kibi &&
            values.path == roc::copy_path::none && values.log == roc::log_level::warning &&
            values.memory_resource == roc::default_resource::pool && !values.trace_calls;
        static_cast<void>(roc::get_options());
        std::_Exit(are_defaults ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^rocarray: warning: " + std::string(GetParam().warning) + "\n$");
}

char const* const invalid_limit =
    "ROCARRAY_STAGING_LIMIT is not a usable number: .*; use a number from 4096 to 1099511627776, "
    "in "
    "bytes or with K, M or G";

INSTANTIATE_TEST_SUITE_P(
    Values, InvalidVariableDeathTest,
    testing::Values(
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "much", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "K", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "8KB", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", " 8K", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "+8192", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "-8192", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "4095", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "1025G", invalid_limit},
        // These overflow; the first one is 1G modulo 2^64.
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "17179869185G", invalid_limit},
        invalid_variable{"ROCARRAY_STAGING_LIMIT", "18446744073709559808", invalid_limit},
        invalid_variable{"ROCARRAY_PINNED_CACHE", "18014398509481985K",
                         "ROCARRAY_PINNED_CACHE is not a usable number: 18014398509481985K; use a "
                         "number from 0 to 1099511627776, in bytes or with K, M or G"},
        invalid_variable{"ROCARRAY_COPY_THREADS", "1K",
                         "ROCARRAY_COPY_THREADS is not a usable number: 1K; use a number from 1 to "
                         "256"},
        invalid_variable{
            "ROCARRAY_COPY_THREADS", "257",
            "ROCARRAY_COPY_THREADS is not a usable number: 257; use a number from 1 to "
            "256"},
        invalid_variable{"ROCARRAY_COPY_PATH", "dma_4d",
                         "ROCARRAY_COPY_PATH is not a copy path: dma_4d; use none, dma, dma_2d, "
                         "dma_3d, staged, packed, kernel or host"},
        invalid_variable{"ROCARRAY_MEMORY_RESOURCE", "nonsense",
                         "ROCARRAY_MEMORY_RESOURCE is not a memory resource: nonsense; use pool, "
                         "hip or hip_async"},
        invalid_variable{"ROCARRAY_STREAM_STAGING", "events",
                         "ROCARRAY_STREAM_STAGING is not a staging method: events; use auto, "
                         "values or host_functions"},
        invalid_variable{"ROCARRAY_LOG", "loud",
                         "ROCARRAY_LOG is not a log level: loud; use off, error, warning, info, "
                         "debug or trace"},
        invalid_variable{"ROCARRAY_TRACE", "all",
                         "ROCARRAY_TRACE is not a kind of trace: all; use calls, or unset it"},
        invalid_variable{"ROCARRAY_PEER_ACCESS", "off",
                         "ROCARRAY_PEER_ACCESS is not valid: off; use 0 or 1"},
        invalid_variable{"ROCARRAY_LEAK_CHECK", "2",
                         "ROCARRAY_LEAK_CHECK is not valid: 2; use 0 or 1"}));

TEST(InvalidVariablesDeathTest, AreNotReportedIfWarningsAreOff) {
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_LOG", "error", 1);
        report_and_exit("ROCARRAY_STAGING_LIMIT", "much");
      },
      testing::ExitedWithCode(0), "^$");
}

}  // namespace

// Instead of test/support/main.cpp, which sets options: the tests read the environment first.
int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  // A child process must not have read the environment of its parent.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  return RUN_ALL_TESTS();
}
