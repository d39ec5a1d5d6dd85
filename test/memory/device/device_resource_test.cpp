// SPDX-License-Identifier: MIT
// The memory resource of a device: how it is set, and how arrays give memory back to their
// resource, even if it has been replaced or destroyed, or if HIP fails.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/exit_output.hpp"

namespace {

constexpr std::size_t bytes = 200'000;
using array = roc::device_array<unsigned char>;

TEST(DeviceResource, ServesNewArraysUntilItIsReplaced) {
  roc::hip_memory_resource hip_resource;
  roc::statistics_resource_adaptor counting(hip_resource);
  roc::memory_resource* const previous_resource = roc::set_device_resource(0, &counting);
  {
    array const a({1000});
    EXPECT_EQ(1000u, roc::device().memory_statistics().current_bytes);
    EXPECT_EQ(1u, counting.statistics().current_blocks);
    roc::set_device_resource(0, previous_resource);
    EXPECT_EQ(&roc::device_resource(0), previous_resource);
    // The array gives its memory back to the resource that it is from.
  }
  EXPECT_EQ(0u, counting.statistics().current_bytes);
  roc::set_device_resource(0, nullptr);
  EXPECT_EQ(previous_resource, &roc::device_resource(0));
  EXPECT_THROW(roc::set_device_resource(100, nullptr), roc::error);
  EXPECT_THROW(roc::set_device_resource(-1, nullptr), roc::error);
}

TEST(DeviceResource, IsTheDefaultAgainAfterTheResourceIsDestroyed) {
  {
    roc::hip_memory_resource hip_resource;
    roc::set_device_resource(0, &hip_resource);
  }
  array const a({1000});
  a.fill(1);
  EXPECT_NE(0u, roc::device().memory_statistics().reserved_bytes);
}

TEST(DeviceArrayRelease, ThrowsForMemoryOfAPool) {
  auto pooled = roc::to_device(std::vector<int>{1, 2, 3});
  try {
    pooled.release();
    FAIL();
  } catch (roc::lifetime_error const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("hip_memory_resource"));
  }
  EXPECT_EQ(3, pooled(2).get());  // the array still owns its memory
}

TEST(DeviceArrayRelease, ThrowsIfTheResourceWasDestroyed) {
  auto hip_resource = std::make_unique<roc::hip_memory_resource>();
  array orphan({bytes}, *hip_resource);
  hip_resource.reset();
  EXPECT_THROW(orphan.release(), roc::lifetime_error);
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  void* const data = orphan.data();
  orphan = {};
  roc::set_log_hook(log);
  ROCARRAY_HIP(hipFree, data);
}

TEST(DeviceArrayDestructor, FreesMemoryIfOrderingAfterUsesFails) {
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  roc::hip_memory_resource hip_resource;
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  std::size_t const before = roc::device().memory().free;
  for (char const* const name :
       {"hipEventCreateWithFlags", "hipEventRecord", "hipEventQuery", "hipStreamWaitEvent"}) {
    array freed({bytes}, hip_resource, roc::order::c, allocation_stream);
    freed.fill(1, other_stream);
    ASSERT_TRUE(roc::platform::fail_call(name, 1, hipErrorLaunchFailure));
    freed = {};
    roc::platform::clear_failures();
    // On a real device, other processes may change the amount of free memory.
    if (roc::test::on_cpu()) {
      EXPECT_EQ(before, roc::device().memory().free) << name;
    }
  }
  roc::set_log_hook(log);
}

TEST(MemoryResource, AllocateThrowsInAHostFunction) {
  roc::stream const stream;
  roc::stream const other_stream;
  { array const warm_up({bytes}, roc::order::c, other_stream); }
  stream.launch_host_function(
      [&] { static_cast<void>(roc::device_resource(0).allocate(100, other_stream)); });
  EXPECT_THROW(stream.synchronize(), roc::error);
}

// Freed by a static destructor, after the objects of the thread have been destroyed.
array static_array;

TEST(DeviceArrayDestructor, WorksInStaticDestructors) {
  static_array = array({5000});
  static_array.fill(1);
  EXPECT_EXIT(
      {
        static array inside({5000});
        inside.fill(2);
        std::exit(0);
      },
      testing::ExitedWithCode(0), roc::test::no_output);
}

}  // namespace
