// SPDX-License-Identifier: MIT
// Failures that the environment plans. Run with
// ROCARRAY_INJECT_FAILURE=hipHostMalloc:1,hipHostMalloc:2,hipHostMalloc:4:999,hipMaloc:1,hipMalloc:x.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "platform/call.hpp"

namespace {

hipError_t allocate_and_free() {
  void* data = nullptr;
  hipError_t const result = ROCARRAY_HIP_CODE(hipHostMalloc, &data, 64, 0u);
  if (result == hipSuccess) ROCARRAY_HIP(hipHostFree, data);
  return result;
}

TEST(PlannedFailures, ApplyToSeveralUsesOfOneCall) {
  EXPECT_EQ(hipErrorOutOfMemory, allocate_and_free());
  EXPECT_EQ(hipErrorOutOfMemory, allocate_and_free());
  EXPECT_EQ(hipSuccess, allocate_and_free());
  EXPECT_EQ(hipErrorUnknown, allocate_and_free());
  EXPECT_EQ(hipSuccess, allocate_and_free());
}

TEST(PlannedFailures, FailCallReplacesEarlierPlan) {
  namespace platform = roc::platform;
  ASSERT_TRUE(platform::fail_call("hipHostMalloc", 1, hipErrorUnknown));
  ASSERT_TRUE(platform::fail_call("hipHostMalloc", 2, hipErrorUnknown));
  EXPECT_EQ(hipSuccess, allocate_and_free());
  EXPECT_EQ(hipErrorUnknown, allocate_and_free());
}

}  // namespace
