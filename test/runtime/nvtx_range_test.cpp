// SPDX-License-Identifier: MIT
// Run with NVTX_INJECTION64_PATH naming the tool of nvtx_injection.cpp.
#include <roc/profiler_range.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

TEST(NvtxRange, ReachesTheToolThatIsInjected) {
  testing::internal::CaptureStdout();
  EXPECT_TRUE(roc::profiler_range::active());
  {
    roc::profiler_range const outer("outer");
    roc::profiler_range const inner("inner");
  }
  std::fflush(stdout);
  // The first asks whether anybody listens.
  EXPECT_EQ("[rocarray][outer[inner]]", testing::internal::GetCapturedStdout());
}

}  // namespace
