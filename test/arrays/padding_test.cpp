// SPDX-License-Identifier: MIT
// Padded arrays, and the computation of padded extents from demands.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/environment.hpp"

namespace {

using roc::padded;
using roc::padding;

struct demand_case {
  char const* name;
  padding demands;
  std::size_t extent;
  std::size_t element_size;
  std::size_t expected;
};

TEST(PaddingExtent, IsTheSmallestThatSatisfiesAllDemands) {
  demand_case const cases[] = {
      {"nothing", padding(), 10, 4, 10},
      {"an extent", padding(12), 10, 4, 12},
      {"rounding", padding().round_to(8), 10, 4, 16},
      {"rounding up to itself", padding().round_to(5), 10, 4, 10},
      {"two roundings: the larger result", padding().round_to(8).round_to(7), 10, 4, 16},
      {"two roundings: the other way", padding().round_to(4).round_to(7), 10, 4, 14},
      {"at least", padding().at_least(13), 10, 4, 13},
      {"at least less", padding().at_least(3), 10, 4, 10},
      {"alignment", padding().align(8), 10, 4, 16},
      {"the larger alignment", padding().align(4).align(32), 10, 4, 32},
      {"rounding, then alignment", padding().round_to(7).align(8), 10, 4, 16},
      {"at least, then alignment", padding().at_least(17).align(8), 10, 4, 24},
      {"bytes", padding().align_bytes(128), 33, 4, 64},
      {"bytes of 12-byte elements", padding().align_bytes(128), 33, 12, 64},
      {"bytes of 3-byte elements", padding().align_bytes(16), 1, 3, 16},
      {"bytes of large elements", padding().align_bytes(64), 3, 256, 3},
      {"a coalesced row", padding().coalesced(), 100, 8, 112},
      {"exact and satisfied", padding().exactly(32).align(16).round_to(5), 20, 4, 32},
      {"of two arrays", padding().round_to(6) & padding().align(4), 10, 4, 12},
      {"zero", padding().align(16).round_to(3), 0, 4, 0},
  };
  for (auto const& test : cases) {
    EXPECT_EQ(test.expected, test.demands.extent(test.extent, test.element_size)) << test.name;
  }
}

TEST(PaddingExtent, ThrowsForIncompatibleDemands) {
  EXPECT_THROW(padding(9).extent(10, 4), roc::layout_error);
  EXPECT_THROW(padding(12).align(8).extent(10, 4), roc::layout_error);
  EXPECT_THROW(padding(12).round_to(13).extent(10, 4), roc::layout_error);
  EXPECT_THROW(padding(12).at_least(13).extent(10, 4), roc::layout_error);
  EXPECT_THROW(padding(12).coalesced().extent(10, 4), roc::layout_error);
  EXPECT_THROW(padding(12) & padding(13), roc::layout_error);
  EXPECT_NO_THROW(padding(12) & padding(12));
  for (std::size_t bad : {0, 3, 12, 100}) {
    EXPECT_THROW(padding().align(bad), roc::layout_error) << bad;
    EXPECT_THROW(padding().align_bytes(bad), roc::layout_error) << bad;
  }
  EXPECT_THROW(padding().round_to(0), roc::layout_error);
  auto const max_extent = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(padding().align(8).extent(max_extent - 3, 1), roc::shape_error);
  EXPECT_THROW(padding().round_to(max_extent - 7).extent(9, 1), roc::shape_error);
  EXPECT_THROW(padding().align(max_extent / 2 + 1).extent(9, 1), roc::shape_error);
  EXPECT_THROW((roc::device_array<int, 2>({2, 3}, padded<2>{2, 2})), roc::layout_error);
}

TEST(PaddingExtent, MessageNamesAllDemands) {
  try {
    padding(12).align(8).extent(10, 4);
    FAIL();
  } catch (roc::layout_error const& error) {
    EXPECT_STREQ(
        "incompatible padding: exact extent 12, but the other constraints need at least 10 "
        "and a multiple of 8; change one of them",
        error.what());
  }
}

TEST(PaddedArray, ShapeExcludesThePaddingAndStridesIncludeIt) {
  roc::device_array<int, 2> const c({3, 5}, padded<2>{4, 8});
  EXPECT_EQ((roc::shape<2>{3, 5}), c.shape());
  EXPECT_EQ((roc::strides<2>{8, 1}), c.strides());
  EXPECT_EQ((roc::shape<2>{4, 8}), c.padded_shape());
  EXPECT_EQ(c.data(), c.padded_view().data());
  EXPECT_EQ(15u, c.size());
  EXPECT_FALSE(c.is_c_contiguous());
  roc::device_array<int, 2> const f({3, 5}, padded<2>{4, 8}, roc::order::f);
  EXPECT_EQ((roc::strides<2>{1, 4}), f.strides());
  EXPECT_EQ((roc::shape<2>{4, 8}), f.padded_shape());
  roc::device_array<float, 3> const rows({2, 3, 33}, padded<3>{2, 3, padding().coalesced()});
  EXPECT_EQ(64, rows.strides()[1]);
  EXPECT_EQ((roc::shape<3>{2, 3, 64}), rows.padded_shape());
  roc::device_array<int, 2> const plain({3, 5});
  EXPECT_EQ(plain.shape(), plain.padded_shape());
}

TEST(PaddedArray, ZeroWritesPaddingButFillAndCopiesDoNot) {
  roc::device_array<int, 2> array({3, 5}, padded<2>{4, 8});
  roc::stream const stream;
  array.padded_view().fill(-1);
  array.fill(7, stream);
  stream.synchronize();
  auto const check = [&](int padding_value, int value) {
    auto const all = array.padded_view().copy_to_host();
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 8; ++k) {
        EXPECT_EQ(i < 3 && k < 5 ? value : padding_value, all(i, k)) << i << ", " << k;
      }
    }
  };
  check(-1, 7);
  array.copy_to_device(std::vector<int>(15, 8));
  check(-1, 8);
  array.zero();
  check(0, 0);
  array.padded_view().fill(-1);
  array.zero(stream);
  stream.synchronize();
  check(0, 0);
  // A view excludes the padding.
  array.padded_view().fill(-1);
  array.view().zero();
  check(-1, 0);
  roc::zero(array);
  check(0, 0);
}

TEST(PaddedView, ReadsAndWritesPadding) {
  roc::device_array<int, 2> const array({2, 3}, padded<2>{2, 4});
  array.padded_view()(1, 3).set(42);
  EXPECT_EQ(42, array.padded_view()(1, 3).get());
  EXPECT_THROW(array(1, 3), roc::shape_error);
}

TEST(PaddedArray, TransposeOfAnRvalueKeepsPadding) {
  roc::device_array<int, 2> array({3, 5}, padded<2>{4, 8});
  array.padded_view().fill(-1);
  auto turned = std::move(array).transpose();
  EXPECT_EQ((roc::shape<2>{5, 3}), turned.shape());
  EXPECT_EQ((roc::shape<2>{8, 4}), turned.padded_shape());
  turned.zero();
  auto const all = turned.padded_view().copy_to_host();
  for (int value : all) EXPECT_EQ(0, value);
  auto row = std::move(turned)(roc::all, 1);  // a region has no padding
  EXPECT_EQ(row.shape(), row.padded_shape());
}

TEST(PaddedArray, HandlesZeroSizeAndUnitAxes) {
  roc::device_array<int, 2> const empty({0, 5}, padded<2>{2, 8});
  EXPECT_EQ(nullptr, empty.data());
  EXPECT_NO_THROW(empty.zero());
  EXPECT_NO_THROW(empty.fill(1));
  EXPECT_NO_THROW(empty.padded_view().zero());
  EXPECT_EQ(empty.shape(), empty.padded_shape());
  roc::host_array<int, 2> const nothing({0, 5}, padded<2>{2, 8});
  EXPECT_EQ(nullptr, nothing.data());
  roc::device_array<int, 3> const units({1, 5, 1}, padded<3>{1, 5, 1});
  EXPECT_EQ((roc::shape<3>{1, 5, 1}), units.padded_shape());
  roc::device_array<int, 3> const wide({1, 5, 1}, padded<3>{2, 5, 4});
  EXPECT_EQ((roc::shape<3>{2, 5, 4}), wide.padded_shape());
  roc::device_array<int, 2> const column({1, 5}, padded<2>{1, 8}, roc::order::f);
  EXPECT_EQ((roc::shape<2>{1, 8}), column.padded_shape());
  auto const turned = roc::device_array<int, 2>({5, 1}, padded<2>{8, 1}).transpose();
  EXPECT_EQ((roc::shape<2>{1, 8}), turned.padded_shape());
  EXPECT_TRUE(roc::device_array_like(wide).is_c_contiguous());
}

TEST(PaddedHostArray, ZeroWritesPaddingButFillAndCopiesDoNot) {
  roc::host_array<int, 2> array({3, 5}, padded<2>{4, 8}, roc::order::c, roc::host_memory::pinned);
  EXPECT_EQ((roc::shape<2>{4, 8}), array.padded_shape());
  array.padded_view().fill(-1);
  array.fill(7);
  EXPECT_EQ(-1, array.padded_view()(3, 7));
  EXPECT_EQ(7, array(2, 4));
  EXPECT_THROW(array.begin(), roc::layout_error);
  roc::device_array<int, 2> device({3, 5}, padded<2>{3, 6});
  device.padded_view().fill(9);
  roc::copy(array, device);
  EXPECT_EQ(9, device.padded_view()(2, 5).get());
  EXPECT_EQ(7, device(2, 4).get());
  device.fill(5);
  device.copy_to_host(array);
  EXPECT_EQ(5, array(0, 0));
  EXPECT_EQ(-1, array.padded_view()(0, 5));
  array.zero();
  EXPECT_EQ(0, array.padded_view()(3, 7));
}

}  // namespace
