// SPDX-License-Identifier: MIT
// ROC_MEMORY_RESOURCE: where arrays take their memory from unless the program says otherwise.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "platform/call.hpp"

namespace {

std::vector<std::string> calls;

TEST(ROC_TEST_SUITE, ArraysTakeFromWhatItNames) {
  std::string const wanted = std::getenv("ROC_MEMORY_RESOURCE");
  calls.clear();
  auto const before = roc::platform::set_call_hook(
      [](roc::platform::call_record const& record) { calls.emplace_back(record.name); });
  for (int i = 0; i < 2; ++i) {
    roc::device_array<int> const array({5000});
    array.fill(i);
    EXPECT_EQ(i, array(-1).get());
  }
  roc::platform::set_call_hook(before);
  auto const times = [&](std::string const& name) {
    return std::count(calls.begin(), calls.end(), name);
  };
  auto& resource = roc::device_resource(0);
  if (wanted == "direct") {
    EXPECT_NE(nullptr, dynamic_cast<roc::direct_resource*>(&resource));
    EXPECT_EQ(2, times("hipFree"));
  } else if (wanted == "driver_pool") {
    EXPECT_NE(nullptr, dynamic_cast<roc::driver_pool_resource*>(&resource));
    EXPECT_EQ(2, times("hipMallocAsync"));
    EXPECT_EQ(2, times("hipFreeAsync"));
  } else {  // what it does not know is said on stderr
    EXPECT_NE(nullptr, dynamic_cast<roc::pool_resource*>(&resource));
    EXPECT_EQ(0, times("hipFree"));
  }
}

TEST(ROC_TEST_SUITE, ReleaseFollowsIt) {
  roc::device_array<int> array({10});
  if (std::getenv("ROC_MEMORY_RESOURCE") != std::string("direct")) {
    EXPECT_THROW(array.release(), roc::lifetime_error);
    return;
  }
  int* const released = array.release();
  ASSERT_NE(nullptr, released);
  ROC_HIP(hipFree, released);
}

}  // namespace
