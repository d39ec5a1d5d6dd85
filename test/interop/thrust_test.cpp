// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "interop/thrust_functions.hpp"

namespace {

TEST(Thrust, SortsArrayOnStream) {
  auto const array = roc::to_device(std::vector<int>{5, 3, 6, 1, 2, 4}).reshape_copy(2, 3);
  roc::stream const stream;
  thrust_test::sort(stream, array.view());
  auto const sorted = array.copy_to_host();
  EXPECT_EQ(1, sorted(0, 0));
  EXPECT_EQ(6, sorted(1, 2));
}

TEST(ThrustElements, ReadsStridedRegion) {
  roc::device_array<int, 2> const array({4, 6});
  array.fill(100);
  auto const region = array(roc::slice(3, roc::none, -2), roc::slice(1, 6, 2));
  region.fill(2);
  EXPECT_EQ(12, thrust_test::sum({}, region));
}

TEST(ThrustElements, WritesInCOrder) {
  roc::device_array<int, 2> const array({2, 3}, roc::order::f);
  thrust_test::count({}, array.view());
  auto const host = array.copy_to_host();
  EXPECT_EQ(1, host(0, 1));
  EXPECT_EQ(5, host(1, 2));
}

TEST(AsDeviceView, AcceptsDeviceVector) {
  std::vector<int> host(10);
  thrust_test::fill_with_sevens(10, host);
  EXPECT_EQ(std::vector<int>(10, 7), host);
}

TEST(ThrustBegin, ThrowsForGaps) {
  roc::device_array<int, 2> const array({4, 6});
  EXPECT_THROW(thrust_test::begin(array(roc::all, roc::slice(0, 3))), roc::layout_error);
}

}  // namespace
