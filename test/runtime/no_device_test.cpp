// SPDX-License-Identifier: MIT
// Runs on a machine without a device.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

TEST(NoDevice, CountReturnsZero) { EXPECT_EQ(0, roc::device::count()); }

TEST(NoDevice, OperationsOnDevicesThrowError) {
  std::vector<float> const host(16, 1.0f);
  EXPECT_THROW(roc::device(), roc::error);
  EXPECT_THROW(roc::stream(), roc::error);
  EXPECT_THROW(roc::device_array<float>({16}), roc::error);
  EXPECT_THROW(static_cast<void>(roc::to_device(host)), roc::error);
}

TEST(NoDevice, MessageAdvisesToCallDeviceCount) {
  try {
    roc::stream const stream;
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::no_such_device, error.code());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("roc::device::count()"))
        << error.what();
  }
}

TEST(NoDevice, HostToHostCopiesWork) {
  std::vector<int> const from = {1, 2, 3};
  std::vector<int> to(3);
  roc::copy(from, to);
  EXPECT_EQ(from, to);
}

TEST(NoDevice, HostArraysWork) {
  roc::host_array<int, 2> array({2, 3});
  array(1, 2) = 7;
  EXPECT_EQ(7, array(-1, -1));
}

}  // namespace
