// SPDX-License-Identifier: MIT
// Arrays of several devices are freed after the work that used them, on whichever device that ran.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "platform/call.hpp"

namespace {

constexpr std::size_t bytes = 200'000;
using array = roc::device_array<unsigned char>;

// An array of device 1, on its default stream.
array on_second() {
  roc::device_guard const guard{roc::device(1)};
  return array({bytes});
}

std::vector<array> fill_all(unsigned char value) {
  roc::device_guard const guard{roc::device(1)};
  std::vector<array> made;
  for (int i = 0; i < 4; ++i) {
    made.push_back(on_second());
    made.back().fill(value, roc::stream_ref());
  }
  roc::stream_ref().synchronize();
  return made;
}

void expect_all(std::vector<array> const& made, unsigned char value) {
  for (int device = 0; device < 2; ++device) roc::device(device).synchronize();
  for (array const& each : made) {
    std::vector<unsigned char> got(bytes);
    each.copy_to_host(got);
    EXPECT_EQ(std::vector<unsigned char>(bytes, value), got);
  }
}

TEST(LifetimeDevices, TheDefaultStreamOfACopyIsTheCurrentDevices) {
  array const source({bytes});
  source.fill(1);
  {
    array const gone = on_second();
    roc::copy(source.view(), gone.view(), roc::stream_ref());  // runs on device 0
  }
  expect_all(fill_all(2), 2);
}

TEST(LifetimeDevices, SoIsThatOfUseOn) {
  {
    array const gone = on_second();
    gone.record_stream(roc::stream_ref());
    ROCARRAY_HIP(hipMemsetAsync, gone.data(), 1, bytes, nullptr);  // on device 0
  }
  expect_all(fill_all(2), 2);
}

TEST(LifetimeDevices, APerThreadStreamIsOneOfEachDevice) {
  { array({bytes}).record_stream(roc::per_thread_stream()); }
  {
    roc::device_guard const guard{roc::device(1)};
    auto const mine = roc::per_thread_stream();
    array const gone({bytes});
    gone.fill(1, mine);
  }
  expect_all(fill_all(2), 2);
  {
    roc::device_guard const guard{roc::device(1)};
    roc::stream const apart(roc::non_blocking);
    {
      array const gone({bytes}, roc::order::c, roc::per_thread_stream());
      for (int i = 0; i < 20; ++i) gone.fill(1, roc::per_thread_stream());
    }
    std::vector<array> made;
    for (int i = 0; i < 4; ++i) {
      made.emplace_back(roc::shape<1>{bytes}, roc::order::c, apart);
      made.back().fill(2, apart);
    }
    apart.synchronize();
    expect_all(made, 2);
  }
}

TEST(LifetimeDevices, HostMemoryUsedOnThePerThreadStreamsOfTwoDevices) {
  auto const host = roc::pinned_array<unsigned char>(bytes);
  array const first({bytes});
  first.copy_to_device(host, roc::per_thread_stream());
  array const second = on_second();
  roc::device_guard const guard{roc::device(1)};
  EXPECT_NO_THROW(second.copy_to_device(host, roc::per_thread_stream()));
  roc::per_thread_stream().synchronize();
}

TEST(LifetimeDevices, HostMemoryWaitsForTheRightDeviceWithoutAnEvent) {
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  auto const second = on_second();
  auto host = roc::host_array<unsigned char>({bytes});
  {
    roc::device_guard const guard{roc::device(1)};
    second.fill(1);
    for (int i = 0; i < 4; ++i) second.copy_to_host(host, roc::stream_ref());
  }
  ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorLaunchFailure));
  host = {};
  roc::platform::clear_failures();
  roc::device_guard const guard{roc::device(1)};
  EXPECT_TRUE(roc::stream_ref().query());
  roc::stream_ref().synchronize();
  roc::set_log_hook(log);
}

}  // namespace
