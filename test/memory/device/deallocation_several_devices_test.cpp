// SPDX-License-Identifier: MIT
// Arrays of several devices are freed after all work that used them, on any device.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include <roc/native.hpp>

#include "platform/call.hpp"

namespace {

constexpr std::size_t bytes = 200'000;
using array = roc::device_array<unsigned char>;

// Returns an array of device 1, allocated on its default stream.
array array_of_device_1() {
  roc::device_guard const guard{roc::device(1)};
  return array({bytes});
}

// Allocates arrays on device 1, which reuse memory of the pool if they can, and fills them.
std::vector<array> allocate_and_fill(unsigned char value) {
  roc::device_guard const guard{roc::device(1)};
  std::vector<array> arrays;
  for (int i = 0; i < 4; ++i) {
    arrays.push_back(array_of_device_1());
    arrays.back().fill(value, roc::stream_ref());
  }
  roc::stream_ref().synchronize();
  return arrays;
}

void expect_all(std::vector<array> const& arrays, unsigned char value) {
  for (int device = 0; device < 2; ++device) roc::device(device).synchronize();
  for (array const& a : arrays) {
    std::vector<unsigned char> actual(bytes);
    a.copy_to_host(actual);
    EXPECT_EQ(std::vector<unsigned char>(bytes, value), actual);
  }
}

TEST(DeviceArrayDestructor, OrdersReuseAfterCopiesOnTheDefaultStreamOfAnotherDevice) {
  array const source({bytes});
  source.fill(1);
  {
    array const freed = array_of_device_1();
    roc::copy(source.view(), freed.view(), roc::stream_ref());  // enqueued on device 0
  }
  expect_all(allocate_and_fill(2), 2);
}

TEST(DeviceArrayDestructor, OrdersReuseAfterRecordStreamOfTheDefaultStreamOfAnotherDevice) {
  {
    array const freed = array_of_device_1();
    freed.record_stream(roc::stream_ref());
    ROCARRAY_HIP(hipMemsetAsync, freed.data(), 1, bytes, nullptr);  // on device 0
  }
  expect_all(allocate_and_fill(2), 2);
}

TEST(DeviceArrayDestructor, DistinguishesPerThreadStreamsOfDevices) {
  { array({bytes}).record_stream(roc::per_thread_stream()); }
  {
    roc::device_guard const guard{roc::device(1)};
    auto const per_thread = roc::per_thread_stream();
    array const freed({bytes});
    freed.fill(1, per_thread);
  }
  expect_all(allocate_and_fill(2), 2);
  {
    roc::device_guard const guard{roc::device(1)};
    roc::stream const non_blocking_stream(roc::non_blocking);
    {
      array const freed({bytes}, roc::order::c, roc::per_thread_stream());
      for (int i = 0; i < 20; ++i) freed.fill(1, roc::per_thread_stream());
    }
    std::vector<array> arrays;
    for (int i = 0; i < 4; ++i) {
      arrays.emplace_back(roc::shape<1>{bytes}, roc::order::c, non_blocking_stream);
      arrays.back().fill(2, non_blocking_stream);
    }
    non_blocking_stream.synchronize();
    expect_all(arrays, 2);
  }
}

// HIP orders blocking streams after the default stream of their own device only.
TEST(PoolResource, StreamOfAnotherDeviceUsesMemoryAfterWorkOfTheDefaultStream) {
  constexpr std::size_t large = std::size_t{2} << 20;  // returned to the bin of its stream
  roc::hip_pinned_memory_resource pinned;
  roc::pool_resource pool(pinned);
  std::optional<roc::stream> second;
  {
    roc::device_guard const guard{roc::device(1)};
    second.emplace();
  }
  void* const memory = pool.allocate(large);
  ROCARRAY_HIP(hipMemsetAsync, memory, 1, large, nullptr);
  pool.deallocate(memory, large);
  void* const taken = pool.allocate(large, *second);
  {
    roc::device_guard const guard{roc::device(1)};
    ROCARRAY_HIP(hipMemsetAsync, taken, 2, large, roc::native(*second));
  }
  second->synchronize();
  roc::stream_ref().synchronize();
  auto const* const data = static_cast<unsigned char const*>(taken);
  EXPECT_EQ(std::vector<unsigned char>(large, 2), std::vector<unsigned char>(data, data + large));
  pool.deallocate(taken, large, *second);
}

TEST(PinnedArray, MayBeUsedOnThePerThreadStreamsOfTwoDevices) {
  auto const host = roc::pinned_array<unsigned char>(bytes);
  array const first({bytes});
  first.copy_to_device(host, roc::per_thread_stream());
  array const second = array_of_device_1();
  roc::device_guard const guard{roc::device(1)};
  EXPECT_NO_THROW(second.copy_to_device(host, roc::per_thread_stream()));
  roc::per_thread_stream().synchronize();
}

TEST(HostArrayDestructor, WaitsForTheStreamOfAnotherDeviceIfAnEventFails) {
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  auto const second = array_of_device_1();
  auto host = roc::host_array<unsigned char>({bytes});
  {
    roc::device_guard const guard{roc::device(1)};
    second.fill(1);
    for (int i = 0; i < 4; ++i) second.copy_to_host(host, roc::stream_ref());
  }
  ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorLaunchFailure));
  host = {};
  roc::platform::clear_failures();
  roc::device_guard const guard{roc::device(1)};
  EXPECT_TRUE(roc::stream_ref().query());
  roc::stream_ref().synchronize();
  roc::set_log_hook(log);
}

}  // namespace
