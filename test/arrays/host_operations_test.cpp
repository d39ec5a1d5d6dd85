// SPDX-License-Identifier: MIT
// Host arrays and views have the operations of device arrays and views.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "support/environment.hpp"

namespace {

using roc::all;
using roc::slice;

TEST(HostView, ReturnsOtherViewsOfTheSameMemory) {
  std::vector<int> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::host_view<int, 2> const view(numbers.data(), {4, 6});
  EXPECT_EQ(13, view.transpose()(1, 2));
  EXPECT_EQ(13, view.reshape(2, -1)(1, 1));
  EXPECT_EQ(13, view.ravel()(13));
  EXPECT_THROW(view.transpose().ravel(), roc::layout_error);
  EXPECT_EQ(6, view.transpose().ravel_copy()(1));
  EXPECT_EQ(18, view.split(3)[1](0, 0));
  EXPECT_EQ(23, view(roc::newaxis, roc::ellipsis).squeeze<0>()(3, 5));
  EXPECT_EQ(24u, view.as<float>().size());
  static_assert(decltype(view.region(1, 2))::rank == 0);
  EXPECT_EQ(8, view.region(1, 2)());
  EXPECT_THROW(view(4, 0), roc::shape_error);
  EXPECT_THROW(view(slice(0, 5), all), roc::shape_error);
}

TEST(HostView, FillAndZeroDoNotTouchGaps) {
  std::vector<int> numbers(24, 1);
  roc::host_view<int, 2> const view(numbers.data(), {4, 6});
  view(all, slice(0, 6, 2)).fill(5);
  EXPECT_EQ(5, view(3, 4));
  EXPECT_EQ(1, view(3, 5));
  view(slice(1, 3), slice(1, 3)).zero();
  EXPECT_EQ(0, view(2, 2));
  EXPECT_EQ(5, view(3, 2));
  roc::fill(numbers, 9);
  EXPECT_EQ(9, numbers[23]);
  roc::zero(std::span(numbers).subspan(20));
  EXPECT_EQ(9, numbers[19]);
  EXPECT_EQ(0, numbers[20]);
  int square[2][2] = {{1, 2}, {3, 4}};
  roc::fill(square, 6);
  EXPECT_EQ(6, square[1][1]);
}

TEST(HostArrayFill, RunsInStreamOrderOnAStream) {
  roc::stream const stream;
  auto host = roc::pinned_array<int>(1000);
  roc::device_array<int> const device({1000});
  host.fill(1, stream);
  device.copy_to_device(host, stream);
  host.fill(2, stream);
  stream.synchronize();
  EXPECT_EQ(1, device(999).get());
  EXPECT_EQ(2, host(999));
}

TEST(HostArray, OperationsOnRvaluesMoveTheMemory) {
  roc::host_array<int, 2> array({3, 4});
  std::iota(array.begin(), array.end(), 0);
  int const* const data = array.data();
  auto flat = std::move(array).ravel();
  static_assert(std::is_same_v<decltype(flat), roc::host_array<int, 1>>);
  EXPECT_EQ(data, flat.data());
  EXPECT_THROW(array.view(), roc::lifetime_error);
  auto tail = std::move(flat)(slice(-3, roc::none));
  EXPECT_EQ(11, tail(2));
  EXPECT_EQ(3, std::accumulate(tail.begin(), tail.end(), 0) - 27);
  auto turned = roc::host_array<int, 2>({3, 4}).transpose();
  EXPECT_EQ((roc::shape<2>{4, 3}), turned.shape());
  EXPECT_TRUE(turned.is_f_contiguous());
}

TEST(HostArray, ReturnsViewsOfConstElementsIfConst) {
  roc::host_array<int, 2> const array({3, 4});
  static_assert(std::is_same_v<decltype(array.transpose()), roc::host_view<int const, 2>>);
  static_assert(std::is_same_v<decltype(array(1, all)), roc::host_view<int const, 1>>);
  static_assert(std::is_same_v<decltype(array(1, 1)), int const&>);
}

TEST(HostArrayConstructor, ChecksExplicitStrides) {
  roc::host_array<int, 2> array({2, 3}, roc::strides<2>{8, 2});
  array.fill(4);
  EXPECT_EQ((roc::strides<2>{8, 2}), array.strides());
  EXPECT_THROW(array.begin(), roc::layout_error);
  EXPECT_THROW((roc::host_array<int, 2>({2, 3}, roc::strides<2>{2, 1})), roc::layout_error);
  // Interleaved axes, but every index has its own element.
  EXPECT_NO_THROW((roc::host_array<int, 2>({2, 3}, roc::strides<2>{3, 2})));
  EXPECT_THROW((roc::host_array<int, 2>({3, 4}, roc::strides<2>{3, 2})), roc::layout_error);
}

TEST(HostView, IsConstructedFromContiguousRanges) {
  std::vector<int> vector = {1, 2, 3};
  std::array<int, 3> array = {4, 5, 6};
  int plain[3] = {7, 8, 9};
  EXPECT_EQ(3, roc::host_view<int>(vector)(2));
  EXPECT_EQ(6, roc::host_view<int>(array)(-1));
  EXPECT_EQ(7, roc::host_view<int>(plain)(0));
  EXPECT_EQ(2, roc::host_view<int const>(std::span<int const>(vector))(1));
  roc::device_array<int> const device({3});
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 0) device.copy_to_device(vector);
    if (pass == 1) device.copy_to_device(array);
    if (pass == 2) device.copy_to_device(plain);
    EXPECT_EQ(1 + 3 * pass, device(0).get());
  }
}

// An array is no contiguous range: with gaps or negative strides a span would contain other memory.
static_assert(!std::ranges::contiguous_range<roc::host_array<int, 2>>);
static_assert(std::ranges::random_access_range<roc::host_array<int, 2>>);
// A view of a temporary range or array does not compile.
static_assert(!std::is_constructible_v<roc::host_view<int const>, std::vector<int>>);
static_assert(std::is_constructible_v<roc::host_view<int const>, std::span<int>>);
static_assert(!std::is_convertible_v<roc::host_array<int>, roc::host_view<int const>>);

TEST(HostArray, ConvertsToViews) {
  std::vector<int> vector = {1, 2, 3};
  roc::host_view const deduced(vector);
  static_assert(std::is_same_v<decltype(deduced), roc::host_view<int, 1> const>);
  roc::host_array<int, 2> array({2, 2});
  array.fill(4);
  roc::host_view<int const, 2> const fixed = array;
  roc::host_view<int, 2> const view = array;
  EXPECT_EQ(fixed(1, 1), view(1, 1));
  roc::device_array<int> const device({3});
  device.fill(5);
  roc::device_view<int const> const there = device;
  EXPECT_EQ(5, there(2).get());
}

TEST(HostArray, HasSizeZeroIfItOwnsNothing) {
  roc::host_array<int, 2> array({3, 4});
  auto const moved = std::move(array);
  EXPECT_EQ(12u, moved.size());
  EXPECT_EQ(0u, array.size());
  EXPECT_EQ(0u, array.size_bytes());
  EXPECT_EQ(0u, (roc::host_array<int, 0>().size()));
  EXPECT_THROW(array.data(), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(array.shape()), roc::lifetime_error);
  EXPECT_THROW(array.begin(), roc::lifetime_error);
  EXPECT_THROW(array.fill(1), roc::lifetime_error);
}

TEST(HostArrayRequire, AcceptsMemoryOfTheRequiredKind) {
  using roc::host_memory;
  auto const pinned = roc::pinned_array<int>(4);
  EXPECT_EQ(host_memory::pinned, pinned.kind());
  EXPECT_NO_THROW(pinned.require(host_memory::pinned));
  EXPECT_NO_THROW(pinned.require(host_memory::pageable));
  auto const mapped = roc::mapped_array<int>(4);
  EXPECT_NO_THROW(mapped.require(host_memory::mapped));
  EXPECT_NO_THROW(mapped.require(host_memory::pinned));
  EXPECT_NO_THROW(roc::host_array<int>(4).require(host_memory::pageable));
  EXPECT_NO_THROW(roc::pinned_array<int>(0).require(host_memory::pinned));
}

TEST(HostArrayRequire, ThrowsForMemoryOfAnotherKind) {
  using roc::host_memory;
  roc::host_array<int> const pageable(4);
  for (auto kind : {host_memory::pinned, host_memory::mapped, host_memory::managed}) {
    EXPECT_THROW(pageable.require(kind), roc::registration_error);
  }
  EXPECT_THROW(roc::pinned_array<int>(4).require(host_memory::mapped), roc::registration_error);
  EXPECT_THROW(roc::mapped_array<int>(4).require(host_memory::managed), roc::registration_error);
  EXPECT_THROW(roc::host_array<int>().require(host_memory::pageable), roc::lifetime_error);
  try {
    pageable.require(host_memory::pinned);
    FAIL();
  } catch (roc::registration_error const& error) {
    EXPECT_TRUE(std::string(error.what())
                    .ends_with(": host array of the wrong kind of memory: it is pageable, required "
                               "is pinned; create it with roc::pinned_array"))
        << error.what();
  }
}

}  // namespace
