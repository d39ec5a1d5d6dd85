// SPDX-License-Identifier: MIT
// ROCARRAY_MEMORY_RESOURCE: the default memory resource of device arrays.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platform/call.hpp"

namespace {

// Calls may come from any thread, because worker threads take part in copies.
std::atomic<int> frees = 0;
std::atomic<int> async_allocations = 0;
std::atomic<int> async_frees = 0;

void count(roc::platform::call_record const& record) {
  std::string_view const name = record.name;
  if (name == "hipFree") ++frees;
  if (name == "hipMallocAsync") ++async_allocations;
  if (name == "hipFreeAsync") ++async_frees;
}

TEST(MemoryResourceSetting, SelectsTheDefaultResource) {
  std::string const setting = std::getenv("ROCARRAY_MEMORY_RESOURCE");
  auto const previous_hook = roc::platform::set_call_hook(count);
  for (int i = 0; i < 2; ++i) {
    roc::device_array<int> const array({5000});
    array.fill(i);
    EXPECT_EQ(i, array(-1).get());
  }
  roc::platform::set_call_hook(previous_hook);
  auto& resource = roc::device_resource(0);
  if (setting == "hip") {
    EXPECT_NE(nullptr, dynamic_cast<roc::hip_memory_resource*>(&resource));
    EXPECT_EQ(2, frees);
  } else if (setting == "hip_async") {
    EXPECT_NE(nullptr, dynamic_cast<roc::hip_async_memory_resource*>(&resource));
    EXPECT_EQ(2, async_allocations);
    EXPECT_EQ(2, async_frees);
  } else {  // an unknown value is reported on stderr and ignored
    EXPECT_NE(nullptr, dynamic_cast<roc::pool_resource*>(&resource));
    EXPECT_EQ(0, frees);
  }
}

TEST(DeviceArrayRelease, IsPossibleOnlyWithTheHipResource) {
  roc::device_array<int> array({10});
  if (std::getenv("ROCARRAY_MEMORY_RESOURCE") != std::string("hip")) {
    EXPECT_THROW(array.release(), roc::lifetime_error);
    return;
  }
  int* const released = array.release();
  ASSERT_NE(nullptr, released);
  ROCARRAY_HIP(hipFree, released);
}

}  // namespace
