// SPDX-License-Identifier: MIT
// Adapters of memory resources with two devices: CMake sets ROCARRAY_HOST_DEVICES=2.
#include <roc/interop/cuda_mr.hpp>
#include <roc/interop/foreign_resource.hpp>
#include <roc/interop/rmm.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "interop/foreign_resources.hpp"
#include "interop/stream_order.hpp"
#include "platform/call.hpp"
#include "support/gate.hpp"

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

TEST(ForeignResource, PassesStreamsOfItsDeviceUnchanged) {
  for (int device = 0; device < 2; ++device) {
    foreign::call_log log;
    roc::foreign_resource resource(foreign::resource{&log}, device);
    std::optional<roc::stream> stream;
    {
      roc::device_guard const guard{roc::device(device)};
      stream.emplace();
    }
    // Another device may be current.
    { roc::device_array<int> const array({100}, resource, roc::order::c, *stream); }
    ASSERT_EQ(2u, log.calls.size());
    for (foreign::call const& call : log.calls) {
      EXPECT_EQ(roc::native(*stream), call.stream);
      EXPECT_EQ(device, call.device);
    }
  }
}

// Each device has its resource. The two resources are used alternately.
template <class MakeAdapter>
void expect_stream_order_on_both_devices(MakeAdapter make) {
  roc::hip_memory_resource first_hip(0), second_hip(1);
  roc::pool_resource first_pool(first_hip), second_pool(second_hip);
  auto first = make(first_pool), second = make(second_pool);
  for (int i = 0; i < 2; ++i) {
    {
      roc::device_guard const guard{roc::device(1)};
      foreign::expect_stream_order(second);
    }
    foreign::expect_stream_order(first);
  }
  EXPECT_EQ(0u, first_pool.statistics().current_bytes);
  EXPECT_EQ(0u, second_pool.statistics().current_bytes);
}

TEST(RmmResource, KeepsTheOrderOfStreamsOnBothDevices) {
  expect_stream_order_on_both_devices([](roc::pool_resource& pool) { return adapter(pool); });
}

TEST(CudaMrResource, KeepsTheOrderOfStreamsOnBothDevices) {
  using cuda_adapter = roc::cuda_mr_resource<foreign::device_accessible>;
  expect_stream_order_on_both_devices([](roc::pool_resource& pool) {
    return foreign::stream_last_view<cuda_adapter>{cuda_adapter(pool)};
  });
}

TEST(CudaMrResource, ThrowsIfAnotherDeviceIsCurrent) {
  roc::hip_memory_resource hip(1);
  roc::pool_resource pool(hip);
  roc::cuda_mr_resource<foreign::device_accessible> resource(pool);
  roc::stream const of_device_0;
  EXPECT_THROW(static_cast<void>(resource.allocate(roc::native(of_device_0), 100)), roc::error);
  EXPECT_EQ(0u, pool.statistics().current_blocks);
  // Without a stream, no stream can be that of another device.
  void* const idle = resource.allocate_sync(100);
  EXPECT_EQ(1u, pool.statistics().current_blocks);
  resource.deallocate_sync(idle, 100);
}

// Work on another device uses the memory; deallocation waits for it.
TEST(CudaMrResource, DeallocationWaitsForAStreamOfAnotherDevice) {
  roc::hip_memory_resource hip(1);
  roc::pool_resource pool(hip);
  roc::cuda_mr_resource<foreign::device_accessible> resource(pool);
  void* data = nullptr;
  {
    roc::device_guard const guard{roc::device(1)};
    data = resource.allocate_sync(100);
  }
  std::atomic<bool> has_run = false;
  roc::stream const of_device_0;
  roc::test::gate gate;
  gate.close(of_device_0);
  of_device_0.launch_host_function([&] { has_run = true; });
  std::jthread const opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  resource.deallocate(roc::native(of_device_0), data, 100);
  EXPECT_TRUE(has_run);
  EXPECT_EQ(0u, pool.statistics().current_blocks);
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

// The null stream may be that of the device that was current at the allocation.
TEST(RmmResource, DeallocationWaitsForTheNullStreamOfItsDeviceIfAnotherOneIsCurrent) {
  roc::hip_memory_resource hip(1);
  roc::pool_resource pool(hip);
  adapter resource(pool);
  constexpr std::size_t bytes = 4'000'000;
  for (int i = 0; i < 3; ++i) {
    void* old = nullptr;
    {
      roc::device_guard const guard{roc::device(1)};
      old = resource.allocate(bytes);
      roc::stream_ref().launch_host_function(
          [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
      ROCARRAY_HIP(hipMemsetAsync, old, 1, bytes, nullptr);
    }
    resource.deallocate(old, bytes);  // device 0 is current
    roc::device_guard const guard{roc::device(1)};
    roc::stream const stream(roc::non_blocking);
    void* const next = resource.allocate(bytes, roc::native(stream));
    ROCARRAY_HIP(hipMemsetAsync, next, 2, bytes, roc::native(stream));
    stream.synchronize();
    roc::device().synchronize();
    std::vector<unsigned char> actual(bytes);
    roc::memcpy(actual.data(), next, bytes);
    EXPECT_EQ(std::vector<unsigned char>(bytes, 2), actual);
    resource.deallocate(next, bytes, roc::native(stream));
  }
}

TEST(RmmResource, DeallocationLeavesExceptionsOfHostFunctionsToTheirStream) {
  roc::hip_memory_resource hip(1);
  roc::pool_resource pool(hip);
  adapter resource(pool);
  for (bool const is_standard : {true, false}) {
    void* data = nullptr;
    {
      roc::device_guard const guard{roc::device(1)};
      data = resource.allocate(1000);
    }
    roc::stream const stream;  // of device 0, which is current
    stream.launch_host_function([is_standard] {
      if (is_standard) throw std::runtime_error("of a host function");
      throw 7;
    });
    resource.deallocate(data, 1000, roc::native(stream));
    EXPECT_EQ(0u, pool.statistics().current_blocks);
    EXPECT_ANY_THROW(stream.synchronize());
  }
}

// hipFree need not wait for other devices, though that of the host platform does.
TEST(HipManagedMemoryResource, DeallocationWaitsForAStreamOfAnotherDevice) {
  if (!roc::device().has_managed_memory()) GTEST_SKIP() << "the device has no managed memory";
  roc::hip_managed_memory_resource managed(0);
  void* const data = managed.allocate(1000);
  roc::device_guard const guard{roc::device(1)};
  roc::stream const of_device_1;
  of_device_1.launch_host_function([] {});
  static bool has_waited;
  static bool has_waited_before_free;
  has_waited = has_waited_before_free = false;
  auto const hook = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    if (std::string_view(record.name) == "hipStreamSynchronize") has_waited = true;
    if (std::string_view(record.name) == "hipFree") has_waited_before_free = has_waited;
  });
  managed.deallocate(data, 1000, of_device_1);
  roc::platform::set_call_hook(hook);
  EXPECT_TRUE(has_waited_before_free);
}

// Kernels of both devices may use the memory.
TEST(ManagedArrayDestructor, WaitsForBothDevicesBeforeItFreesTheMemory) {
  if (!roc::device().has_managed_memory()) GTEST_SKIP() << "the device has no managed memory";
  static int waits;
  static int waits_before_free;
  waits = waits_before_free = 0;
  auto array = std::make_unique<roc::host_array<int>>(roc::managed_array<int>(1000));
  auto const hook = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    if (std::string_view(record.name) == "hipDeviceSynchronize") ++waits;
    if (std::string_view(record.name) == "hipFree") waits_before_free = waits;
  });
  array.reset();
  roc::platform::set_call_hook(hook);
  EXPECT_EQ(2, waits_before_free);
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
