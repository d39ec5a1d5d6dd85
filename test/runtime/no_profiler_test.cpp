// SPDX-License-Identifier: MIT
// Runs with a ROCARRAY_PROFILER that does not exist.
#include <roc/profiler_range.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(ProfilerSetting, MissingLibraryIsReportedOnce) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    roc::profiler_range const range("ignored");
  }
  EXPECT_FALSE(roc::profiler_range::active());
  std::string const text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(
      0u,
      text.find("rocarray: warning: ROCARRAY_PROFILER is not a library: /nonexistent/profiler.so "))
      << text;
  EXPECT_EQ(text.size() - 1, text.find('\n')) << text;
}

}  // namespace
