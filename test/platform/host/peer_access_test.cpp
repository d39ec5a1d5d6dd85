// SPDX-License-Identifier: MIT
// Access of devices to the memory of others. Run with ROCARRAY_HOST_DEVICES=3 and
// ROCARRAY_HOST_PEERS=0-1,1:2.
#include <algorithm>
#include <cstdint>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

char* allocate_on(int device, std::size_t bytes) {
  void* data = nullptr;
  ok(hipSetDevice(device));
  ok(hipMalloc(&data, bytes));
  ok(hipSetDevice(0));
  return static_cast<char*>(data);
}

int access_flags(int device, void* data) {
  int flags = -1;
  ok(hipSetDevice(device));
  ok(hipPointerGetAttribute(&flags, HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, data));
  ok(hipSetDevice(0));
  return flags;
}

// Enqueues a copy of two rows on the default stream of device 0.
hipError_t copy_rows(char* to, char const* from) {
  return hipMemcpy2DAsync(to, 8, from, 8, 4, 2, hipMemcpyDeviceToDevice, nullptr);
}

TEST(HostPeerAccess, IsPossibleBetweenConnectedDevices) {
  int const expected[3][3] = {{0, 1, 0}, {1, 0, 1}, {0, 0, 0}};
  for (int device = 0; device != 3; ++device) {
    for (int peer = 0; peer != 3; ++peer) {
      int can = -1;
      ok(hipDeviceCanAccessPeer(&can, device, peer));
      EXPECT_EQ(expected[device][peer], can) << device << " " << peer;
    }
  }
}

TEST(HostPeerAccess, LinksHaveAttributes) {
  int value = -1;
  ok(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 1));
  EXPECT_EQ(1, value);
  ok(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 2, 1));
  EXPECT_EQ(0, value);
  ok(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrNativeAtomicSupported, 1, 2));
  EXPECT_EQ(1, value);
  int slower = -1;
  ok(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrPerformanceRank, 0, 1));
  ok(hipDeviceGetP2PAttribute(&slower, hipDevP2PAttrPerformanceRank, 0, 2));
  EXPECT_LT(value, slower);
  expect(hipErrorInvalidDevice,
         hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 1, 1));
  expect(hipErrorInvalidDevice,
         hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 1, 3));
  expect(hipErrorInvalidValue,
         hipDeviceGetP2PAttribute(&value, static_cast<hipDeviceP2PAttr>(9), 0, 1));
  expect(hipErrorInvalidValue,
         hipDeviceGetP2PAttribute(nullptr, hipDevP2PAttrAccessSupported, 0, 1));
  std::uint32_t type = 0;
  std::uint32_t hops = 0;
  ok(hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops));
  EXPECT_EQ(4u, type);
  EXPECT_EQ(1u, hops);
  ok(hipExtGetLinkTypeAndHopCount(0, 2, &type, &hops));
  EXPECT_EQ(2u, type);
  expect(hipErrorInvalidDevice, hipExtGetLinkTypeAndHopCount(0, 3, &type, &hops));
}

TEST(HostPeerAccess, IsEnabledAndDisabledOnce) {
  ok(hipDeviceEnablePeerAccess(1, 0));
  expect(hipErrorPeerAccessAlreadyEnabled, hipDeviceEnablePeerAccess(1, 0));
  ok(hipDeviceDisablePeerAccess(1));
  expect(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(1));
  expect(hipErrorPeerAccessUnsupported, hipDeviceEnablePeerAccess(2, 0));
  expect(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(0, 0));
  expect(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(3, 0));
  expect(hipErrorInvalidDevice, hipDeviceDisablePeerAccess(0));
  expect(hipErrorInvalidValue, hipDeviceEnablePeerAccess(1, 1));
}

TEST(HostPeerAccess, CopyOfRowsNeedsAccess) {
  char* const here = allocate_on(0, 16);
  char* const there = allocate_on(1, 16);
  char const text[17] = "abcdefghijklmnop";
  ok(hipMemcpy(there, text, 16, hipMemcpyHostToDevice));
  expect(hipErrorInvalidValue, copy_rows(here, there));
  expect(hipErrorInvalidValue, copy_rows(there, here));
  EXPECT_EQ(hipMemAccessFlagsProtNone, access_flags(0, there));
  ok(hipMemcpy(here, there, 16, hipMemcpyDeviceToDevice));  // of contiguous memory needs none
  ok(hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(hipMemAccessFlagsProtReadWrite, access_flags(0, there));
  EXPECT_EQ(hipMemAccessFlagsProtNone, access_flags(1, here));
  ok(hipMemcpy(there, "ABCDEFGHIJKLMNOP", 16, hipMemcpyHostToDevice));
  ok(copy_rows(here, there));
  char back[17] = {};
  ok(hipMemcpy(back, here, 16, hipMemcpyDeviceToHost));
  EXPECT_STREQ("ABCDefghIJKLmnop", back);
  ok(hipDeviceDisablePeerAccess(1));
  expect(hipErrorInvalidValue, copy_rows(here, there));
  ok(hipFree(here));
  ok(hipFree(there));
}

TEST(HostPeerAccess, PoolMemoryNeedsAccessOfThePool) {
  ok(hipSetDevice(1));
  void* data = nullptr;
  ok(hipMallocAsync(&data, 16, nullptr));
  hipMemPool_t pool = nullptr;
  ok(hipDeviceGetDefaultMemPool(&pool, 1));
  ok(hipSetDevice(0));
  char* const here = allocate_on(0, 16);
  char* const there = static_cast<char*>(data);
  ok(hipDeviceEnablePeerAccess(1, 0));
  expect(hipErrorInvalidValue, copy_rows(here, there));
  hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  ok(hipMemPoolSetAccess(pool, &access, 1));
  ok(copy_rows(here, there));
  access.flags = hipMemAccessFlagsProtNone;
  ok(hipMemPoolSetAccess(pool, &access, 1));
  expect(hipErrorInvalidValue, copy_rows(here, there));

  access.location.id = 1;
  expect(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, 1));  // its own device
  access.location.id = 3;
  expect(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, 1));
  access.location.id = 2;
  expect(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, 1));  // is not connected
  expect(hipErrorInvalidValue, hipMemPoolSetAccess(pool, nullptr, 1));
  expect(hipErrorInvalidValue, hipMemPoolSetAccess(nullptr, &access, 1));
  ok(hipDeviceSynchronize());  // device 0 reads the memory
  ok(hipSetDevice(1));
  ok(hipFreeAsync(data, nullptr));
  ok(hipSetDevice(0));
  ok(hipFree(here));
}

TEST(HostPeerAccess, MemoryOfPoolIsOnItsDevice) {
  hipMemPool_t pool = nullptr;
  ok(hipDeviceGetDefaultMemPool(&pool, 1));
  void* data = nullptr;
  ok(hipMallocFromPoolAsync(&data, 16, pool, nullptr));  // a stream of device 0
  hipPointerAttribute_t attributes{};
  ok(hipPointerGetAttributes(&attributes, data));
  EXPECT_EQ(1, attributes.device);
  ok(hipFreeAsync(data, nullptr));
  expect(hipErrorInvalidValue, hipMallocFromPoolAsync(&data, 16, nullptr, nullptr));
  expect(hipErrorInvalidValue, hipMallocFromPoolAsync(nullptr, 16, pool, nullptr));
}

// Writes to the memory of device 1 by a kernel of device 0.
void write_peer(char* data) {
  auto const write = [](void* closure, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) static_cast<char volatile*>(closure)[i] = 5;
  };
  ok(launch_host_kernel(nullptr, 16, write, data, [](void*) {}));
  ok(hipStreamSynchronize(nullptr));
}

TEST(HostPeerAccess, KernelCanUsePoolThatIsShared) {
  ok(hipSetDevice(1));
  void* data = nullptr;
  ok(hipMallocAsync(&data, 16, nullptr));
  ok(hipStreamSynchronize(nullptr));
  hipMemPool_t pool = nullptr;
  ok(hipDeviceGetDefaultMemPool(&pool, 1));
  ok(hipSetDevice(0));
  hipMemAccessDesc const access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  ok(hipMemPoolSetAccess(pool, &access, 1));
  write_peer(static_cast<char*>(data));
  char back[16] = {};
  ok(hipMemcpy(back, data, 16, hipMemcpyDeviceToHost));
  EXPECT_TRUE(std::all_of(back, back + 16, [](char b) { return b == 5; }));
  ok(hipSetDevice(1));
  ok(hipFreeAsync(data, nullptr));
  ok(hipSetDevice(0));
}

TEST(HostPeerAccessDeathTest, KernelNeedsAccess) {
  if (setting("ROCARRAY_HOST_PROTECT") != "on") GTEST_SKIP() << "needs ROCARRAY_HOST_PROTECT=on";
  char* const there = allocate_on(1, 16);
  EXPECT_DEATH(write_peer(there), "");
  ok(hipDeviceEnablePeerAccess(1, 0));
  write_peer(there);
  char back[16] = {};
  ok(hipMemcpy(back, there, 16, hipMemcpyDeviceToHost));
  EXPECT_TRUE(std::all_of(back, back + 16, [](char b) { return b == 5; }));
  ok(hipDeviceDisablePeerAccess(1));
  ok(hipFree(there));
}

}  // namespace
