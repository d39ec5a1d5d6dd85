// SPDX-License-Identifier: MIT
// Several devices. Run with ROCARRAY_HOST_DEVICES=3.
#include <string>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;
using numbers = std::vector<int>;

class HostDevices : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    ok(hipGetDeviceCount(&count));
    if (count != 3) GTEST_SKIP() << "needs ROCARRAY_HOST_DEVICES=3";
    ok(hipSetDevice(0));
  }
  void TearDown() override { ok(hipSetDevice(0)); }
};

TEST_F(HostDevices, CurrentDeviceIsPerThread) {
  ok(hipSetDevice(2));
  int device = -1;
  std::thread([&] { ok(hipGetDevice(&device)); }).join();
  EXPECT_EQ(0, device);
  ok(hipGetDevice(&device));
  EXPECT_EQ(2, device);
  expect(hipErrorInvalidDevice, hipSetDevice(3));
  expect(hipErrorInvalidDevice, hipSetDevice(-1));
}

TEST_F(HostDevices, CanAccessPeers) {
  int can = -1;
  ok(hipDeviceCanAccessPeer(&can, 0, 2));
  EXPECT_EQ(1, can);
  ok(hipDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(0, can);
  expect(hipErrorInvalidDevice, hipDeviceCanAccessPeer(&can, 0, 3));
  expect(hipErrorInvalidValue, hipDeviceCanAccessPeer(nullptr, 0, 1));
}

TEST_F(HostDevices, HaveTheirOwnBusIdsAndNames) {
  char first[64];
  char last[64];
  ok(hipDeviceGetPCIBusId(first, sizeof first, 0));
  ok(hipDeviceGetPCIBusId(last, sizeof last, 2));
  EXPECT_STRNE(first, last);
  expect(hipErrorInvalidValue, hipDeviceGetPCIBusId(first, 12, 0));
  ok(hipDeviceGetPCIBusId(first, 13, 0));
  ok(hipDeviceGetName(first, sizeof first, 0));
  EXPECT_NE(std::string::npos, std::string(first).find("rocarray"));
  expect(hipErrorInvalidDevice, hipDeviceGetName(first, sizeof first, 3));
  int value = -1;
  ok(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1));
  EXPECT_GT(value, 0);
  expect(hipErrorInvalidDevice, hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 3));
  expect(hipErrorInvalidValue,
         hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(9999), 1));
}

TEST_F(HostDevices, HaveTheirOwnMemory) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* data[2] = {};
  ok(hipMalloc(&data[0], 100));
  ok(hipSetDevice(1));
  ok(hipMemGetInfo(&before, &total));
  EXPECT_EQ(before, total);
  ok(hipMalloc(&data[1], 100));
  ok(hipMemGetInfo(&after, &total));
  EXPECT_EQ(before - 256, after);
  hipPointerAttribute_t attributes{};
  for (int i = 0; i < 2; ++i) {
    ok(hipPointerGetAttributes(&attributes, static_cast<char*>(data[i]) + 7));
    EXPECT_EQ(i, attributes.device);
    EXPECT_EQ(hipMemoryTypeDevice, attributes.type);
  }
  char text[100] = "between devices";
  char back[100] = {};
  ok(hipMemcpy(data[0], text, 100, hipMemcpyHostToDevice));
  ok(hipMemcpy(data[1], data[0], 100, hipMemcpyDeviceToDevice));
  ok(hipMemcpy(back, data[1], 100, hipMemcpyDefault));
  EXPECT_STREQ(text, back);
  ok(hipFree(data[0]));  // not of the current device
  ok(hipFree(data[1]));
}

TEST_F(HostDevices, HaveIndependentNullStreams) {
  execution_log log;
  gate blocked;
  auto const stream = make_stream();
  blocked.close(stream);
  log.enqueue(stream, 1);
  ok(hipSetDevice(1));
  log.enqueue(nullptr, 2);
  ok(hipDeviceSynchronize());
  EXPECT_TRUE(log.has(2));
  EXPECT_EQ(!gate::holds(), log.has(1));
  blocked.open();
  ok(hipStreamSynchronize(stream));  // not of the current device
  EXPECT_TRUE(log.has(1));
  ok(hipStreamDestroy(stream));
}

TEST_F(HostDevices, EventsAreRecordedOnTheirOwnDeviceAndAwaitedOnAll) {
  execution_log log;
  auto const event = make_event();
  auto const first = make_stream();
  ok(hipSetDevice(1));
  auto const second = make_stream();
  expect(hipErrorInvalidHandle, hipEventRecord(event, second));
  log.enqueue(first, 1);
  ok(hipEventRecord(event, first));
  ok(hipStreamWaitEvent(second, event, 0));
  log.enqueue(second, 2);
  ok(hipStreamSynchronize(second));
  EXPECT_EQ((numbers{1, 2}), log.executed());
  for (auto stream : {first, second}) ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST_F(HostDevices, HostMemoryNamesTheDeviceOfItsAllocation) {
  void* pinned = nullptr;
  static char registered[4096];
  hipPointerAttribute_t attributes{};
  ok(hipSetDevice(2));
  ok(hipHostMalloc(&pinned, 64, 0));
  ok(hipSetDevice(1));
  ok(hipHostRegister(registered, sizeof registered, 0));
  ok(hipSetDevice(0));
  ok(hipPointerGetAttributes(&attributes, pinned));
  EXPECT_EQ(2, attributes.device);
  ok(hipPointerGetAttributes(&attributes, registered));
  EXPECT_EQ(1, attributes.device);
  ok(hipHostUnregister(registered));
  ok(hipHostFree(pinned));
}

}  // namespace
