// SPDX-License-Identifier: MIT
// Device arrays and events of another process, on a device that is not the current one.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"
#include "support/other_process.hpp"

namespace {

using roc::test::channel;
using roc::test::other_process;
using roc::test::role_definition;

struct handles {
  roc::ipc_array_handle array;
  roc::ipc_event_handle event;
};

// Exports an array of device 1 while device 0 is current.
role_definition const owner{
    "owner", [](channel& parent) {
      auto array = [] {
        roc::device_guard const second{roc::device(1)};
        return roc::device_array<int>(100);
      }();
      array.fill(3);
      auto event = [] {
        roc::device_guard const second{roc::device(1)};
        return roc::ipc_event();
      }();
      handles sent{roc::get_ipc_handle(array, roc::stream_ref()), event.ipc_handle()};
      EXPECT_EQ(0, roc::device().ordinal());
      parent.send(sent);
      parent.receive<bool>();
    }};

class IpcSeveralDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  }
};

TEST_F(IpcSeveralDevices, ArrayIsOpenedOnItsDevice) {
  other_process other("owner");
  auto const received = other.receive<handles>();
  EXPECT_EQ(roc::device(1).pci_bus_id(), received.array.pci_bus_id());
  {
    auto const array = roc::open_ipc_array<int, 1>(received.array, roc::stream_ref());
    EXPECT_EQ(1, array.device_ordinal());
    EXPECT_EQ(0, roc::device().ordinal());
    std::vector<int> contents(100);
    array.copy_to_host(contents);
    EXPECT_EQ(std::vector<int>(100, 3), contents);
    roc::device_array<int> local(100);
    local.copy_to_device(array);
    local.copy_to_host(contents);
    EXPECT_EQ(std::vector<int>(100, 3), contents);
  }
  EXPECT_EQ(0, roc::device().ordinal());
  roc::ipc_event opened(received.event);
  EXPECT_TRUE(opened.query());
  other.send(true);
  EXPECT_TRUE(other.join());
}

TEST_F(IpcSeveralDevices, StreamsOfOtherDevicesAreRefused) {
  other_process other("owner");
  auto const received = other.receive<handles>();
  roc::stream const first;
  roc::test::expect_error<roc::error>(
      [&] { static_cast<void>(roc::open_ipc_array<int, 1>(received.array, first)); },
      "memory of device 1 used with a stream of device 0");
  roc::device_guard const second{roc::device(1)};
  roc::device_array<int> const array(10);
  roc::test::expect_error<roc::error>([&] { static_cast<void>(roc::get_ipc_handle(array, first)); },
                                      "memory of device 1 used with a stream of device 0");
  other.kill();
}

}  // namespace
