// SPDX-License-Identifier: MIT
#include <roc/device.hpp>
#include <roc/error.hpp>

#include <gtest/gtest.h>

#include <string>

#include "support/environment.hpp"

namespace {

TEST(Device, CurrentOneExists) {
  roc::device const device;
  EXPECT_GE(device.ordinal(), 0);
  EXPECT_LT(device.ordinal(), roc::device::count());
  EXPECT_EQ(device, roc::device(device.ordinal()));
}

TEST(Device, ThatThereIsNotIsAnErrorWithBothNumbers) {
  int const beyond = roc::device::count();
  try {
    roc::device const device(beyond);
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::no_such_device, error.code());
    EXPECT_NE(std::string::npos, std::string(error.what()).find(std::to_string(beyond)));
  }
  EXPECT_THROW(roc::device(-1), roc::error);
}

TEST(Device, SaysWhatItIs) {
  roc::device const device;
  EXPECT_FALSE(device.name().empty());
  EXPECT_EQ(12u, device.pci_bus_id().size()) << device.pci_bus_id();
  EXPECT_GT(device.multiprocessor_count(), 0);
  EXPECT_TRUE(device.warp_size() == 32 || device.warp_size() == 64) << device.warp_size();
  auto const memory = device.memory();
  EXPECT_GT(memory.total, 0u);
  EXPECT_LE(memory.free, memory.total);
}

TEST(Device, GuardRestoresTheOneBefore) {
  roc::device const before;
  {
    roc::device_guard const guard{roc::device(roc::device::count() - 1)};
    EXPECT_EQ(roc::device::count() - 1, roc::device().ordinal());
  }
  EXPECT_EQ(before, roc::device());
}

TEST(Device, SynchronizesWithoutWork) { EXPECT_NO_THROW(roc::device().synchronize()); }

}  // namespace
