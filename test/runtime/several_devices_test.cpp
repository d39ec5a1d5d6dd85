// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

std::vector<int> numbers(std::size_t n) {
  std::vector<int> result(n);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST(SeveralDevices, AnArrayStaysOnTheDeviceItWasMadeOn) {
  ASSERT_EQ(3, roc::device::count());
  auto const host = numbers(1000);
  roc::device_array<int> array;
  {
    roc::device_guard const guard{roc::device(2)};
    array = roc::to_device(host);
  }
  EXPECT_EQ(2, array.device_ordinal());
  EXPECT_EQ(0, roc::device().ordinal());
  std::vector<int> back(host.size());
  array.copy_to_host(back);  // another device is current
  EXPECT_EQ(host, back);
  EXPECT_EQ(0, roc::device().ordinal());
}

TEST(SeveralDevices, AStreamsDeviceDecidesWhereAnArrayIsMade) {
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  roc::device(0).make_current();
  auto const host = numbers(64);
  auto const array = roc::to_device(host, stream);
  stream.synchronize();
  EXPECT_EQ(1, array.device_ordinal());
  std::vector<int> back(host.size());
  array.copy_to_host(back);
  EXPECT_EQ(host, back);
}

TEST(SeveralDevices, CopiesGoFromOneToAnother) {
  auto const host = numbers(500);
  auto const first = roc::to_device(host);
  roc::device_guard const guard{roc::device(1)};
  auto second = roc::device_array_like(first);
  EXPECT_EQ(1, second.device_ordinal());
  second.copy_to_device(first);
  std::vector<int> back(host.size());
  second.copy_to_host(back);
  EXPECT_EQ(host, back);
}

}  // namespace
