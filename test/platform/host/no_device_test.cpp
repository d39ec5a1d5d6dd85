// SPDX-License-Identifier: MIT
// HIP on the CPU without a device. Run with ROCARRAY_HOST_DEVICES=0.
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

TEST(HostNoDevice, CallsReturnNoDeviceOrInvalidDevice) {
  if (setting("ROCARRAY_HOST_DEVICES") != "0") GTEST_SKIP() << "needs ROCARRAY_HOST_DEVICES=0";
  int number = 7;
  void* data = nullptr;
  hipStream_t stream = nullptr;
  expect(hipErrorNoDevice, hipGetDeviceCount(&number));
  EXPECT_EQ(0, number);
  expect(hipErrorNoDevice, hipGetLastError());
  ok(hipRuntimeGetVersion(&number));
  ok(hipDriverGetVersion(&number));
  expect(hipErrorInvalidDevice, hipGetDevice(&number));
  expect(hipErrorInvalidDevice, hipSetDevice(0));
  expect(hipErrorInvalidDevice, hipMalloc(&data, 1));
  expect(hipErrorInvalidDevice, hipHostMalloc(&data, 1, 0));
  expect(hipErrorInvalidDevice, hipFree(nullptr));
  expect(hipErrorInvalidDevice, hipStreamCreateWithFlags(&stream, 0));
  expect(hipErrorInvalidDevice, hipStreamSynchronize(nullptr));
  expect(hipErrorInvalidDevice, hipDeviceSynchronize());
  expect(hipErrorInvalidDevice, hipGetLastError());
}

}  // namespace
