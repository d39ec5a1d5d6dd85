// SPDX-License-Identifier: MIT
// Which resource arrays take their memory from, and how it gets back there, or elsewhere, whatever
// fails and goes meanwhile.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"

namespace {

constexpr std::size_t bytes = 200'000;
using array = roc::device_array<unsigned char>;

TEST(DeviceResource, IsWhatArraysTakeFrom) {
  roc::hip_memory_resource direct;
  roc::statistics_resource_adaptor counting(direct);
  roc::memory_resource* const before = roc::set_device_resource(0, &counting);
  {
    array const a({1000});
    EXPECT_EQ(1000u, roc::device().memory_statistics().current_bytes);
    EXPECT_EQ(1u, counting.statistics().current_blocks);
    roc::set_device_resource(0, before);
    EXPECT_EQ(&roc::device_resource(0), before);
    // Freed where it is from.
  }
  EXPECT_EQ(0u, counting.statistics().current_bytes);
  roc::set_device_resource(0, nullptr);
  EXPECT_EQ(before, &roc::device_resource(0));
  EXPECT_THROW(roc::set_device_resource(100, nullptr), roc::error);
  EXPECT_THROW(roc::set_device_resource(-1, nullptr), roc::error);
}

TEST(DeviceResource, OneThatGoesIsNotUsedAnyMore) {
  {
    roc::hip_memory_resource direct;
    roc::set_device_resource(0, &direct);
  }
  array const a({1000});
  a.fill(1);
  EXPECT_NE(0u, roc::device().memory_statistics().reserved_bytes);
}

TEST(DeviceResource, ReleaseNeedsADirectResource) {
  auto pooled = roc::to_device(std::vector<int>{1, 2, 3});
  try {
    pooled.release();
    FAIL();
  } catch (roc::lifetime_error const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("hip_memory_resource"));
  }
  EXPECT_EQ(3, pooled(2).get());  // it still owns its memory
}

TEST(DeviceResource, ReleaseAfterTheResourceIsAnError) {
  auto direct = std::make_unique<roc::hip_memory_resource>();
  array orphan({bytes}, *direct);
  direct.reset();
  EXPECT_THROW(orphan.release(), roc::lifetime_error);
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  void* const data = orphan.data();
  orphan = {};
  roc::set_log_hook(log);
  ROCARRAY_HIP(hipFree, data);
}

TEST(DeviceResource, MemoryIsFreedWhereItsUsesCannotBeWaitedFor) {
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  roc::hip_memory_resource direct;
  roc::stream const own;
  roc::stream const other;
  std::size_t const before = roc::device().memory().free;
  for (char const* const name : {"hipEventCreateWithFlags", "hipEventRecord", "hipEventQuery",
                                 "hipStreamWaitEvent"}) {
    array gone({bytes}, direct, roc::order::c, own);
    gone.fill(1, other);
    ASSERT_TRUE(roc::platform::fail_call(name, 1, hipErrorLaunchFailure));
    gone = {};
    roc::platform::clear_failures();
    // Of a device others may take memory meanwhile.
    if (roc::test::on_cpu()) {
      EXPECT_EQ(before, roc::device().memory().free) << name;
    }
  }
  roc::set_log_hook(log);
}

TEST(DeviceResource, HostFunctionsMakeNoArrays) {
  roc::stream const stream;
  roc::stream const other;
  { array const warm({bytes}, roc::order::c, other); }
  stream.launch_host_function(
      [&] { static_cast<void>(roc::device_resource(0).allocate(100, other)); });
  EXPECT_THROW(stream.synchronize(), roc::error);
}

// Freed in static destructors, after the thread's own objects.
array last_of_all;

TEST(DeviceResource, StaticArraysAreFreedLast) {
  last_of_all = array({5000});
  last_of_all.fill(1);
  EXPECT_EXIT(
      {
        static array inside({5000});
        inside.fill(2);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

}  // namespace
