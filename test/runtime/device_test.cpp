// SPDX-License-Identifier: MIT
#include <roc/device.hpp>
#include <roc/error.hpp>

#include <gtest/gtest.h>

#include <string>

#include "platform/call.hpp"
#include "support/environment.hpp"

namespace {

TEST(Device, IsTheCurrentDeviceIfDefaultConstructed) {
  roc::device const device;
  EXPECT_GE(device.ordinal(), 0);
  EXPECT_LT(device.ordinal(), roc::device::count());
  EXPECT_EQ(device, roc::device(device.ordinal()));
}

TEST(Device, ThrowsErrorWithTheOrdinalIfItIsOutOfRange) {
  int const beyond = roc::device::count();
  try {
    roc::device const device(beyond);
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::no_such_device, error.code());
    EXPECT_NE(std::string::npos, std::string(error.what()).find(std::to_string(beyond)));
  }
  EXPECT_THROW(roc::device(-1), roc::error);
}

TEST(Device, ReportsNameAndMemory) {
  roc::device const device;
  EXPECT_FALSE(device.name().empty());
  EXPECT_EQ(12u, device.pci_bus_id().size()) << device.pci_bus_id();
  EXPECT_GT(device.multiprocessor_count(), 0);
  EXPECT_TRUE(device.warp_size() == 32 || device.warp_size() == 64) << device.warp_size();
  auto const memory = device.memory();
  EXPECT_GT(memory.total, 0u);
  EXPECT_LE(memory.free, memory.total);
}

TEST(DeviceAttributes, ThrowIfTheFirstCallFails) {
  roc::device const device;
  ASSERT_TRUE(roc::platform::fail_call("hipDeviceGetAttribute", 1, hipErrorLaunchFailure));
  EXPECT_THROW(static_cast<void>(device.warp_size()), roc::error);
  roc::platform::clear_failures();
}

TEST(DeviceAttributes, ArePlausible) {
  roc::device const device;
  EXPECT_GE(device.max_threads_per_block(), device.warp_size());
  EXPECT_GE(device.shared_memory_per_block(), std::size_t{16} << 10);
  EXPECT_GE(device.clock_rate(), 0);
  EXPECT_GE(device.memory_clock_rate(), 0);
  EXPECT_GE(device.memory_bus_width(), 0);
  EXPECT_GE(device.async_engine_count(), 0);
  EXPECT_GE(device.compute_capability(), (roc::compute_capability{0, 0}));
  EXPECT_TRUE(device.has_unified_addressing());
  EXPECT_TRUE(device.can_map_host_memory());
  if (device.has_concurrent_managed_access()) {
    EXPECT_TRUE(device.has_managed_memory());
  }
  static_cast<void>(device.has_pageable_memory_access());
  static_cast<void>(device.has_cooperative_launch());
  static_cast<void>(device.is_integrated());
  EXPECT_FALSE(device.can_access_peer(device));
  if (!roc::test::on_cpu()) {
    EXPECT_GT(device.l2_cache_size(), 0u);
  }
}

TEST(DeviceAttributes, HaveDefaultsIfUnknownToTheRuntime) {
  roc::device const device;
  roc::platform::fail_call("hipDeviceGetAttribute", 1, hipErrorInvalidValue);
  EXPECT_TRUE(device.has_unified_addressing());
  roc::platform::fail_call("hipDeviceGetAttribute", 1, hipErrorInvalidDevice);
  EXPECT_THROW(static_cast<void>(device.has_unified_addressing()), roc::error);
  roc::platform::fail_call("hipDeviceGetAttribute", 1, hipErrorInvalidValue);
  EXPECT_EQ(0, device.clock_rate());
}

TEST(DeviceGuard, RestoresThePreviousDevice) {
  roc::device const before;
  {
    roc::device_guard const guard{roc::device(roc::device::count() - 1)};
    EXPECT_EQ(roc::device::count() - 1, roc::device().ordinal());
  }
  EXPECT_EQ(before, roc::device());
}

TEST(DeviceSynchronize, ReturnsIfThereIsNoWork) { EXPECT_NO_THROW(roc::device().synchronize()); }

}  // namespace
