// SPDX-License-Identifier: MIT
// Adapters of memory resources with two devices: CMake sets ROCARRAY_HOST_DEVICES=2.
#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/interop/rmm.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include "interop/foreign_resources.hpp"

namespace {

using adapter = roc::rmm_resource<foreign::device_memory_resource, foreign::stream_view>;

TEST(ForeignResource, CallsTheOtherLibraryWithItsDeviceCurrent) {
  foreign::call_log log;
  roc::foreign_resource resource(foreign::resource{&log}, 1);
  EXPECT_EQ(1, resource.device_ordinal());
  { roc::device_array<int> const array({100}, resource); }
  ASSERT_EQ(2u, log.calls.size());
  EXPECT_EQ(1, log.calls[0].device);
  EXPECT_EQ(1, log.calls[1].device);
  EXPECT_EQ(0, roc::device().ordinal());
  EXPECT_THROW(roc::foreign_resource(foreign::resource{&log}, 2), roc::error);
}

TEST(ForeignResource, RefusesStreamsOfAnotherDevice) {
  foreign::call_log log;
  roc::foreign_resource resource(foreign::resource{&log}, 1);
  roc::stream const of_device_0;
  EXPECT_THROW(static_cast<void>(resource.allocate(100, of_device_0)), roc::error);
  EXPECT_TRUE(log.calls.empty());
  // A deallocation cannot throw: it waits for the stream.
  void* const data = resource.allocate(100);
  of_device_0.launch_host_function([] {});
  resource.deallocate(data, 100, of_device_0);
  EXPECT_EQ(nullptr, log.calls.back().stream);
  EXPECT_TRUE(of_device_0.query());
}

TEST(RmmResource, ThrowsIfAnotherDeviceIsCurrent) {
  roc::hip_memory_resource hip(1);
  roc::pool_resource pool(hip);
  adapter resource(pool);
  EXPECT_THROW(static_cast<void>(resource.allocate(100)), roc::error);
  void* data = nullptr;
  {
    roc::device_guard const guard{roc::device(1)};
    data = resource.allocate(100);
  }
  EXPECT_EQ(1u, pool.statistics().current_blocks);
  roc::stream const of_device_0;
  of_device_0.launch_host_function([] {});
  resource.deallocate(data, 100, roc::native(of_device_0));
  EXPECT_TRUE(of_device_0.query());
  EXPECT_EQ(0u, pool.statistics().current_blocks);
}

TEST(HipPinnedMemoryResource, PoolServesCopiesOfBothDevices) {
  roc::hip_pinned_memory_resource pinned(roc::host_flags::portable, 1);
  roc::pool_resource pool(pinned);
  EXPECT_EQ(1, pool.device_ordinal());
  for (int device = 0; device < 2; ++device) {
    roc::device_guard const guard{roc::device(device)};
    roc::device_array<int> const on_device({1000});
    roc::stream const stream;
    {
      auto array = roc::pinned_array<int>(roc::shape<1>{1000}, pool);
      std::fill(array.begin(), array.end(), device + 1);
      on_device.copy_to_device(array, stream);
    }
    auto next = roc::pinned_array<int>(roc::shape<1>{1000}, pool);
    std::fill(next.begin(), next.end(), 0);
    EXPECT_EQ(device + 1, on_device(999).get());
  }
}

}  // namespace
