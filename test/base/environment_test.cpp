// SPDX-License-Identifier: MIT
// The list of environment variables and the report of misspelled ones. The report is made once per
// process, so that death tests make it in their child processes.
#include "base/environment.hpp"

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

#include "base/options.hpp"

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

// Exits with 0 after two threads and the options have asked for the report.
[[noreturn]] void report_and_exit(char const* name, char const* value) {
  setenv(name, value, 1);
  std::thread concurrent(roc::base::report_unknown_variables);
  roc::base::report_unknown_variables();
  concurrent.join();
  static_cast<void>(roc::base::options());
  roc::base::report_unknown_variables();
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

}  // namespace
