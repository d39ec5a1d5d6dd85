// SPDX-License-Identifier: MIT
// Failures planned by the environment: run with
// ROCARRAY_INJECT_FAILURE=hipHostMalloc:1,hipHostMalloc:2,hipHostMalloc:4:999,hipMaloc:1,hipMalloc:x.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "platform/call.hpp"

namespace {

hipError_t take_and_free() {
  void* data = nullptr;
  hipError_t const result = ROCARRAY_HIP_CODE(hipHostMalloc, &data, 64, 0u);
  if (result == hipSuccess) ROCARRAY_HIP(hipHostFree, data);
  return result;
}

TEST(PlannedFailures, SeveralOfOneCall) {
  EXPECT_EQ(hipErrorOutOfMemory, take_and_free());
  EXPECT_EQ(hipErrorOutOfMemory, take_and_free());
  EXPECT_EQ(hipSuccess, take_and_free());
  EXPECT_EQ(hipErrorUnknown, take_and_free());
  EXPECT_EQ(hipSuccess, take_and_free());
}

TEST(PlannedFailures, ALaterPlanTakesThePlaceOfOneBefore) {
  namespace platform = roc::platform;
  ASSERT_TRUE(platform::fail_call("hipHostMalloc", 1, hipErrorUnknown));
  ASSERT_TRUE(platform::fail_call("hipHostMalloc", 2, hipErrorUnknown));
  EXPECT_EQ(hipSuccess, take_and_free());
  EXPECT_EQ(hipErrorUnknown, take_and_free());
}

}  // namespace
