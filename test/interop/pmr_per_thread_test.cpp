// SPDX-License-Identifier: MIT
// pmr.hpp has no streams, so that code with per-thread default streams can include it.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#define HIP_API_PER_THREAD_DEFAULT_STREAM
#include <roc/interop/pmr.hpp>

#include <gtest/gtest.h>

#include <memory_resource>
#include <vector>

namespace {

TEST(PmrResource, WorksInCodeWithPerThreadDefaultStreams) {
  roc::pmr_resource resource;
  std::pmr::vector<int> const values(1000, 5, &resource);
  EXPECT_EQ(5, values.back());
}

}  // namespace
