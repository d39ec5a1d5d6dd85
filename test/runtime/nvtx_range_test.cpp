// SPDX-License-Identifier: MIT
// Runs with the NVTX tool of nvtx_injection.cpp (NVTX_INJECTION64_PATH).
#include <roc/profiler_range.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

TEST(ProfilerRange, ReachesTheInjectedNvtxTool) {
  testing::internal::CaptureStdout();
  EXPECT_TRUE(roc::profiler_range::active());
  {
    roc::profiler_range const outer("outer");
    roc::profiler_range const inner("inner");
  }
  std::fflush(stdout);
  // The library pushes the first range to find out if a tool is attached.
  EXPECT_EQ("[rocarray][outer[inner]]", testing::internal::GetCapturedStdout());
}

}  // namespace
