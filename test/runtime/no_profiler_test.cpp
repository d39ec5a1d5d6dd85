// SPDX-License-Identifier: MIT
// Run with ROCARRAY_PROFILER naming nothing.
#include <roc/profiler_range.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(NoProfiler, IsReportedOnceAndRangesDoNothing) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    roc::profiler_range const range("nobody sees it");
  }
  EXPECT_FALSE(roc::profiler_range::active());
  std::string const text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(0u, text.find("rocarray: warning: ROCARRAY_PROFILER=/nonexistent/profiler.so: ")) << text;
  EXPECT_EQ(text.size() - 1, text.find('\n')) << text;
}

}  // namespace
