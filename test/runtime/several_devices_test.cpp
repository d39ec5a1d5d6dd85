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

TEST(SeveralDevices, ACopyBetweenThemWaitsForTheSourcesDevice) {
  auto const host = numbers(500);
  roc::device_array<int> const first({500});
  roc::stream const stream;
  first.copy_to_device(host, stream);
  roc::device_guard const guard{roc::device(1)};
  roc::device_array<int> const second({500});
  second.copy_to_device(first);
  auto const back = second.copy_to_host();
  EXPECT_TRUE(std::equal(host.begin(), host.end(), back.begin()));
}

TEST(SeveralDevices, AStreamOfAnotherDeviceIsAnError) {
  roc::device_array<int> const array({500});
  std::vector<int> host(500);
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream;
  EXPECT_THROW(array.copy_to_host(host, stream), roc::error);
  EXPECT_THROW(array.copy_to_host(host, roc::stream_ref()), roc::error);
}

TEST(SeveralDevices, AStridedCopyBetweenThemIsAnError) {
  roc::device_array<int, 2> const first({20, 30});
  roc::device_guard const guard{roc::device(1)};
  roc::device_array<int, 2> const second({30, 20});
  EXPECT_THROW(second.copy_to_device(first.transpose()), roc::error);
}

}  // namespace
