// SPDX-License-Identifier: MIT
// Device views: what they refer to, their regions and elements.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "support/environment.hpp"

namespace {

static_assert(std::is_trivially_copyable_v<roc::device_view<float, 0>>);
static_assert(std::is_trivially_copyable_v<roc::device_view<float, 1>>);
static_assert(std::is_trivially_copyable_v<roc::device_view<float const, 5>>);
static_assert(std::is_convertible_v<roc::device_view<int, 2>, roc::device_view<int const, 2>>);
static_assert(!std::is_convertible_v<roc::device_view<int const, 2>, roc::device_view<int, 2>>);

TEST(DeviceView, HasMemoryAndShapeOfTheArray) {
  roc::device_array<int, 2> array({3, 4}, roc::order::f);
  auto const view = array.view();
  EXPECT_EQ(array.data(), view.data());
  EXPECT_EQ(array.shape(), view.shape());
  EXPECT_EQ(array.strides(), view.strides());
  EXPECT_EQ(12u, view.size());
  EXPECT_TRUE(view.is_f_contiguous());
}

TEST(DeviceView, RegionOfARegionCopiesTheRightElements) {
  std::vector<int> host(60);
  for (int i = 0; i < 60; ++i) host[static_cast<std::size_t>(i)] = i;
  auto const array = roc::to_device(host);
  auto const cube = array.reshape(3, 4, 5);
  auto const inner = cube(roc::slice(1, 3), roc::ellipsis)(roc::all, roc::slice(3, 0, -2), 2);
  EXPECT_EQ((roc::shape<2>{2, 2}), inner.shape());
  int out[2][2] = {};
  inner.copy_to_host(out);
  EXPECT_EQ(20 + 15 + 2, out[0][0]);
  EXPECT_EQ(20 + 5 + 2, out[0][1]);
  EXPECT_EQ(40 + 15 + 2, out[1][0]);
}

TEST(DeviceView, ElementIsAViewOfRankZero) {
  auto const array = roc::to_device(std::vector<int>{5, 6, 7});
  auto const element = array.view()(1);
  EXPECT_EQ(6, element.copy_to_host()());
  int const value = 60;
  array.view()(-1).copy_to_device(roc::host_view<int const, 0>(&value, {}));
  EXPECT_EQ(60, array.copy_to_host()(2));
  EXPECT_THROW(array.view()(3), roc::shape_error);
}

TEST(DeviceView, AcceptsForeignMemory) {
  roc::device_array<int> const array({6});
  roc::device_view<int, 2> const view(array.data(), {2, 3});
  std::vector<int> const host = {1, 2, 3, 4, 5, 6};
  view.copy_to_device(host);
  EXPECT_EQ(6, view.copy_to_host()(1, 2));
}

TEST(DeviceView, ThrowsLifetimeErrorIfNullWithElements) {
  roc::device_view<int> const view(nullptr, roc::shape<1>{3});
  std::vector<int> host(3);
  EXPECT_THROW(view.copy_to_host(host), roc::lifetime_error);
}

// With one device, the calls that name another one still use the only one there is.
TEST(DeviceView, OfADeviceThatDoesNotExistNamesBothNumbers) {
  int const devices = roc::device::count();
  roc::device_array<int> const array({6});
  roc::device_view<int> const view(array.data(), roc::shape<1>{6}, roc::order::c, devices + 6);
  std::vector<int> host(6);
  auto const expect_error = [&](auto&& call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (roc::error const& error) {
      std::string const numbers = "device " + std::to_string(devices + 6) +
                                  " does not exist: this process sees " + std::to_string(devices);
      EXPECT_NE(std::string::npos, std::string(error.what()).find(numbers)) << error.what();
    }
  };
  expect_error([&] { view.copy_to_host(host); });
  expect_error([&] { view.copy_to_device(host); });
  expect_error([&] { roc::copy(array, view); });
  expect_error([&] { roc::planned_path(host, view); });
  expect_error([&] { view.fill(1); });
  expect_error([&] { view.zero(); });
  expect_error([&] { view.ravel_copy(); });
  roc::stream const stream;
  expect_error([&] { view.copy_to_host(host, stream); });
  expect_error([&] { view(0).set(1, stream); });
  expect_error([&] {
    roc::copy_batch batch;
    batch.add(host, view);
    batch.submit();
  });
}

// A device address must fault in host code, or the tests would not detect such an access.
TEST(DeviceView, AccessByHostCodeFaults) {
  if (!roc::test::on_cpu())
    GTEST_SKIP() << "a real device may map its memory into the host's address space";
  roc::device_array<int> const array({16});
  EXPECT_DEATH(*static_cast<int volatile*>(array.data()) = 1, "");
}

}  // namespace
