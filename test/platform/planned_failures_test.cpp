// SPDX-License-Identifier: MIT
// Failures that the environment plans. Run with the ROCARRAY_INJECT_FAILURE of CMakeLists.txt: the
// uses 1, 2 and 4 (as error 999) of hipHostMalloc, and entries that are not valid.
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
