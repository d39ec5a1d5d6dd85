// SPDX-License-Identifier: MIT
// options::memory_resource: the resource that a device begins with. A device keeps it, so each test
// is a death test: its child process has not used the device before.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "platform/call.hpp"

namespace {

using roc::default_resource;

// The test has one thread that calls HIP.
int frees = 0;
int async_allocations = 0;
int async_frees = 0;

void count(roc::platform::call_record const& record) {
  std::string_view const name = record.name;
  if (name == "hipFree") ++frees;
  if (name == "hipMallocFromPoolAsync") ++async_allocations;
  if (name == "hipFreeAsync") ++async_frees;
}

// Allocates and frees two arrays on a device that begins with the resource.
void use_device_with(default_resource resource) {
  roc::set_options({.memory_resource = resource});
  auto const previous_hook = roc::platform::set_call_hook(count);
  for (int i = 0; i < 2; ++i) {
    roc::device_array<int> const array({5000});
    array.fill(i);
    if (array(-1).get() != i) std::exit(1);
  }
  roc::platform::set_call_hook(previous_hook);
}

template <class Resource>
bool has_resource() {
  return dynamic_cast<Resource*>(&roc::device_resource(0)) != nullptr;
}

[[noreturn]] void exit_with(bool success) { std::exit(success ? 0 : 1); }

TEST(MemoryResourceOptionDeathTest, SelectsThePool) {
  EXPECT_EXIT(
      {
        use_device_with(default_resource::pool);
        exit_with(has_resource<roc::pool_resource>() && frees == 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(MemoryResourceOptionDeathTest, SelectsTheHipResource) {
  EXPECT_EXIT(
      {
        use_device_with(default_resource::hip);
        exit_with(has_resource<roc::hip_memory_resource>() && frees == 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(MemoryResourceOptionDeathTest, SelectsTheAsynchronousHipResource) {
  EXPECT_EXIT(
      {
        use_device_with(default_resource::hip_async);
        exit_with(has_resource<roc::hip_async_memory_resource>() && async_allocations == 2 &&
                  async_frees == 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(MemoryResourceOptionDeathTest, DoesNotChangeTheResourceThatADeviceHas) {
  EXPECT_EXIT(
      {
        use_device_with(default_resource::pool);
        use_device_with(default_resource::hip);
        exit_with(has_resource<roc::pool_resource>());
      },
      testing::ExitedWithCode(0), "");
}

TEST(DeviceArrayReleaseDeathTest, IsPossibleOnlyWithTheHipResource) {
  EXPECT_EXIT(
      {
        use_device_with(default_resource::hip);
        roc::device_array<int> array({10});
        int* const released = array.release();
        ROCARRAY_HIP(hipFree, released);
        exit_with(released != nullptr);
      },
      testing::ExitedWithCode(0), "");
  for (default_resource const resource : {default_resource::pool, default_resource::hip_async}) {
    EXPECT_EXIT(
        {
          use_device_with(resource);
          roc::device_array<int> array({10});
          try {
            array.release();
          } catch (roc::lifetime_error const&) {
            exit_with(true);
          }
          exit_with(false);
        },
        testing::ExitedWithCode(0), "");
  }
}

}  // namespace
