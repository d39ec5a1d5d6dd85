// SPDX-License-Identifier: MIT
// ROCARRAY_MEMORY_RESOURCE: where arrays take their memory from unless the program says otherwise.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platform/call.hpp"

namespace {

// Counted by any thread: copies may be shared with workers.
std::atomic<int> frees = 0;
std::atomic<int> async_allocations = 0;
std::atomic<int> async_frees = 0;

void count(roc::platform::call_record const& record) {
  std::string_view const name = record.name;
  if (name == "hipFree") ++frees;
  if (name == "hipMallocAsync") ++async_allocations;
  if (name == "hipFreeAsync") ++async_frees;
}

TEST(ResourceSetting, ArraysTakeFromWhatItNames) {
  std::string const wanted = std::getenv("ROCARRAY_MEMORY_RESOURCE");
  auto const before = roc::platform::set_call_hook(count);
  for (int i = 0; i < 2; ++i) {
    roc::device_array<int> const array({5000});
    array.fill(i);
    EXPECT_EQ(i, array(-1).get());
  }
  roc::platform::set_call_hook(before);
  auto& resource = roc::device_resource(0);
  if (wanted == "direct") {
    EXPECT_NE(nullptr, dynamic_cast<roc::hip_memory_resource*>(&resource));
    EXPECT_EQ(2, frees);
  } else if (wanted == "driver_pool") {
    EXPECT_NE(nullptr, dynamic_cast<roc::hip_async_memory_resource*>(&resource));
    EXPECT_EQ(2, async_allocations);
    EXPECT_EQ(2, async_frees);
  } else {  // what it does not know is said on stderr
    EXPECT_NE(nullptr, dynamic_cast<roc::pool_resource*>(&resource));
    EXPECT_EQ(0, frees);
  }
}

TEST(ResourceSetting, ReleaseFollowsIt) {
  roc::device_array<int> array({10});
  if (std::getenv("ROCARRAY_MEMORY_RESOURCE") != std::string("direct")) {
    EXPECT_THROW(array.release(), roc::lifetime_error);
    return;
  }
  int* const released = array.release();
  ASSERT_NE(nullptr, released);
  ROCARRAY_HIP(hipFree, released);
}

}  // namespace
