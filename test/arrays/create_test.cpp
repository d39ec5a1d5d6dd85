// SPDX-License-Identifier: MIT
// Construction of arrays: in C or F order, with strides, from an integer, of rank 0, without
// elements, and like another array.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "support/environment.hpp"

namespace {

using roc::order;
using array2 = roc::device_array<int, 2>;

// An order other than c or f does not compile.
template <class O>
concept is_order = requires(O o) {
  array2(roc::shape<2>{2, 3}, o);
};
static_assert(is_order<order>);
static_assert(!is_order<char>);
static_assert(!is_order<int>);
static_assert(!is_order<char const*>);

TEST(ArrayConstructor, OrderDeterminesStrides) {
  struct {
    roc::shape<3> extents;
    order o;
    roc::strides<3> expected;
  } const cases[] = {
      {{2, 3, 4}, order::c, {12, 4, 1}},
      {{2, 3, 4}, order::f, {1, 2, 6}},
      {{1, 3, 1}, order::c, {3, 1, 1}},
      {{5, 1, 1}, order::f, {1, 5, 5}},
  };
  for (auto const& test : cases) {
    roc::device_array<int, 3> const array(test.extents, test.o);
    EXPECT_EQ(test.expected, array.strides());
    EXPECT_EQ(test.extents, array.shape());
    EXPECT_EQ(4 * array.size(), array.size_bytes());
    EXPECT_NE(nullptr, array.data());
    EXPECT_TRUE(test.o == order::c ? array.is_c_contiguous() : array.is_f_contiguous());
  }
}

TEST(ArrayConstructor, OverflowingSizeThrowsShapeError) {
  constexpr std::size_t half = std::size_t{1} << 32;
  roc::shape<2> const cases[] = {
      {half, half}, {half, half / 2}, {SIZE_MAX, 2}, {SIZE_MAX / 4, 4}, {half + 1, half - 1},
  };
  for (auto const& extents : cases) {
    EXPECT_THROW(array2{extents}, roc::shape_error);
    EXPECT_THROW((array2{extents, order::f}), roc::shape_error);
    EXPECT_THROW((roc::host_array<int, 2>{extents}), roc::shape_error);
  }
  EXPECT_THROW((roc::device_array<double>({std::size_t{1} << 61})), roc::shape_error);
}

TEST(ArrayConstructor, ExtentsAbove2To63ArePositiveInMessages) {
  constexpr std::size_t large = (std::size_t{1} << 63) + 1;
  std::string const expected =
      "array size overflows: shape (9223372036854775809, 2); use smaller extents";
  auto const expect_positive = [&](auto const& create) {
    try {
      create();
      FAIL();
    } catch (roc::shape_error const& error) {
      EXPECT_TRUE(std::string(error.what()).ends_with(expected)) << error.what();
    }
  };
  expect_positive([] { array2 const array({large, 2}); });
  expect_positive([] { roc::host_array<int, 2> const array({large, 2}); });
  expect_positive([] { roc::device_array<int, 2> const array({large, 2}, roc::strides<2>{2, 1}); });
}

TEST(ArrayConstructor, SizeBeyondTheDevicesMemoryThrowsOutOfMemory) {
  EXPECT_THROW((roc::device_array<char>({std::size_t{1} << 46})), roc::out_of_memory);
}

TEST(ArrayConstructorWithStrides, AllocatesTheSpannedRangeAndRejectsOverlap) {
  struct {
    roc::shape<2> extents;
    roc::strides<2> strides;
    std::size_t elements;  // of the allocation
  } const good[] = {
      {{3, 4}, {10, 2}, 27}, {{3, 4}, {1, 3}, 12}, {{3, 4}, {4, 1}, 12}, {{1, 4}, {0, 1}, 4},
      {{2, 3}, {3, 2}, 8},   {{3, 1}, {2, 7}, 5},  {{0, 4}, {9, 9}, 0},
  };
  for (auto const& test : good) {
    array2 const array(test.extents, test.strides);
    EXPECT_EQ(test.strides, array.strides());
    // The last element of the array is the last one of the allocation.
    if (test.elements != 0) {
      roc::device_view<int>(array.data(), {test.elements}).fill(7);
      EXPECT_EQ(7, array(-1, -1).get());
      EXPECT_EQ(array.data() + test.elements - 1, array(-1, -1).data());
    }
  }
  roc::strides<2> const bad[] = {{2, 1}, {0, 1}, {-4, 1}, {1, 1}, {3, -1}, {3, 0}};
  for (auto const& strides : bad) {
    EXPECT_THROW(array2({3, 4}, strides), roc::layout_error) << strides[0] << ", " << strides[1];
  }
  EXPECT_THROW(array2({3, 4}, roc::strides<2>{PTRDIFF_MAX / 2, 1}), roc::shape_error);
  EXPECT_THROW(array2({3, 4}, roc::strides<2>{PTRDIFF_MAX / 8, 1}), roc::shape_error);
}

// Shape and strides of different ranks do not compile.
template <std::size_t N>
concept takes_strides = requires(roc::shape<2> s, roc::strides<N> t) { array2(s, t); };
static_assert(takes_strides<2>);
static_assert(!takes_strides<1>);
static_assert(!takes_strides<3>);

// The constructor from an integer is explicit, and for rank 1 only.
static_assert(std::is_constructible_v<roc::device_array<float>, int>);
static_assert(!std::is_convertible_v<int, roc::device_array<float>>);
static_assert(!std::is_constructible_v<array2, int>);
static_assert(!std::is_constructible_v<roc::device_array<float>, double>);
static_assert(std::is_constructible_v<roc::host_array<float>, int>);
static_assert(!std::is_convertible_v<int, roc::host_array<float>>);
static_assert(!std::is_constructible_v<roc::host_array<float, 2>, int>);

TEST(HostArrayFunctions, CreateAnArrayFromExtentsInBraces) {
  roc::shape<2> const expected{2, 3};
  EXPECT_EQ(expected, roc::pinned_array<float>({2, 3}).shape());
  EXPECT_TRUE(roc::pinned_array<float>({2, 3}, roc::order::f).is_f_contiguous());
  EXPECT_EQ(expected, roc::pinned_array<float>({2, 3}, roc::host_flags::write_combined).shape());
  EXPECT_EQ(expected, roc::mapped_array<float>({2, 3}).shape());
  if (roc::device().has_managed_memory()) {
    EXPECT_EQ(expected, roc::managed_array<float>({2, 3}).shape());
  }
}

TEST(ArrayConstructorFromInteger, CreatesAnArrayOfRankOne) {
  roc::shape<1> const expected{10};
  roc::stream const stream;
  std::size_t const size = 10;
  EXPECT_EQ(expected, (roc::device_array<float, 1>(10).shape()));
  EXPECT_EQ(expected, roc::device_array<float>(size).shape());
  EXPECT_EQ(expected, roc::device_array<float>({10}).shape());
  EXPECT_EQ(roc::stream_ref(stream), roc::device_array<float>(10u, stream).stream());
  EXPECT_EQ(expected, roc::host_array<float>(10).shape());
  EXPECT_EQ(expected, roc::host_array<float>({size}).shape());
  EXPECT_EQ(expected, roc::pinned_array<float>(10).shape());
  EXPECT_EQ(expected, roc::pinned_array<float>({10}).shape());
  EXPECT_EQ(expected, roc::pinned_array<float>(roc::shape<1>{10}).shape());
  EXPECT_EQ(expected, roc::mapped_array<float>(10).shape());
  if (roc::device().has_managed_memory()) {
    EXPECT_EQ(expected, roc::managed_array<float>(10).shape());
  }
  EXPECT_EQ(0u, roc::device_array<float>(0).size());
}

TEST(ArrayConstructorFromInteger, NegativeExtentThrowsShapeError) {
  EXPECT_THROW(roc::device_array<float>(-1), roc::shape_error);
  EXPECT_THROW(roc::device_array<float>({-1}), roc::shape_error);
  EXPECT_THROW(roc::host_array<float>(-1), roc::shape_error);
  EXPECT_THROW(static_cast<void>(roc::pinned_array<float>(-1)), roc::shape_error);
  EXPECT_THROW(static_cast<void>(roc::mapped_array<float>(-1)), roc::shape_error);
  EXPECT_THROW(static_cast<void>(roc::managed_array<float>(-1)), roc::shape_error);
  try {
    roc::device_array<float> const array(-3);
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with(": an extent is negative: -3; use 0 or more"))
        << error.what();
  }
}

struct write_sum {
  roc::device_view<int, 2> view;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i, std::size_t k) const {
    view(i, k) = static_cast<int>(10 * i + k);
  }
};

TEST(ForEach, AcceptsExtentsInBraces) {
  array2 const array({3, 4});
  roc::stream const stream;
  std::size_t const n = 3;
  std::size_t const m = 4;
  try {
    roc::for_each(stream, {n, m}, write_sum{array.view()});
  } catch (roc::error const& error) {
    if (error.code() != std::errc::not_supported) throw;
    GTEST_SKIP() << "only the host platform runs functors of a host compiler";
  }
  auto const back = array.copy_to_host();
  EXPECT_EQ(23, back(2, 3));
  array.zero();
  roc::for_each(stream, {3, 4}, write_sum{array.view()});
  roc::for_each(stream, {n, 4}, write_sum{array.view()});
  EXPECT_EQ(12, array(1, 2).get());
  EXPECT_THROW(roc::for_each(stream, {3, -4}, write_sum{array.view()}), roc::shape_error);
  EXPECT_THROW(roc::for_each(stream, -4, [](std::size_t) {}), roc::shape_error);
}

TEST(RankZeroArray, KeepsItsRankInAllOperations) {
  roc::device_array<double, 0> const scalar(roc::shape<0>{});
  EXPECT_EQ(1u, scalar.size());
  EXPECT_EQ(8u, scalar.size_bytes());
  EXPECT_TRUE(scalar.is_c_contiguous());
  EXPECT_TRUE(scalar.is_f_contiguous());
  scalar.set(2.5);
  EXPECT_EQ(2.5, scalar.get());
  auto const host = scalar.copy_to_host();
  static_assert(std::is_same_v<decltype(host), roc::host_array<double, 0> const>);
  EXPECT_EQ(2.5, host());
  auto const copied = roc::to_device(host);
  static_assert(decltype(copied)::rank == 0);
  EXPECT_EQ(2.5, copied().get());
  EXPECT_EQ(1u, roc::device_array_like(copied).transpose().size());
  EXPECT_EQ((roc::shape<2>{1, 1}), copied(roc::newaxis, roc::newaxis).shape());
  EXPECT_EQ(2.5, copied.ravel()(0).get());
  EXPECT_EQ(2.5, copied.reshape(1, 1)(0, 0).get());
  scalar.zero();
  EXPECT_EQ(0.0, scalar.get());
}

TEST(ZeroSizeArray, EveryOperationIsANoOp) {
  roc::shape<2> const cases[] = {{0, 4}, {4, 0}, {0, 0}};
  roc::stream const stream;
  for (auto const& extents : cases) {
    array2 array(extents);
    EXPECT_EQ(nullptr, array.data());
    EXPECT_EQ(0u, array.size());
    EXPECT_TRUE(array.is_c_contiguous());
    EXPECT_TRUE(array.is_f_contiguous());
    auto const back = array.copy_to_host();
    EXPECT_EQ(extents, back.shape());
    EXPECT_EQ(nullptr, back.data());
    auto const later = array.copy_to_host(stream);
    std::vector<int> nothing;
    array.copy_to_host(nothing);
    array.copy_to_host(nothing, stream);
    array.copy_to_device(nothing);
    array.copy_to_device(back, stream);
    array2 const other(extents, order::f);
    roc::copy(array, other);
    roc::copy(array, other, stream);
    roc::copy(array, array);  // no overlap: there are no elements
    array.fill(1);
    array.fill(1, stream);
    array.zero();
    array.zero(stream);
    EXPECT_EQ(nullptr, array(roc::slice(roc::none, roc::none, -1), roc::all).data());
    EXPECT_EQ(0u, array.transpose().size());
    EXPECT_EQ(0u, array.ravel().size());
    EXPECT_EQ((roc::shape<3>{7, 0, 2}), array.reshape(7, 0, 2).shape());
    EXPECT_EQ(0u, array.ravel_copy().size());
    EXPECT_EQ(0u, array.as<char>().size());
    EXPECT_TRUE(array.split(2).size() <= 2);
    EXPECT_EQ(extents, roc::device_array_like(array).shape());
    EXPECT_EQ(extents, roc::to_device(back).shape());
    auto const pins = roc::register_host(nothing);
    auto const moved = std::move(array);
    EXPECT_EQ(nullptr, moved.data());
  }
  stream.synchronize();
}

TEST(DeviceArrayLike, KeepsCAndFOrderAndCompactsOtherLayouts) {
  struct {
    char const* name;
    roc::shape<3> extents;
    roc::strides<3> strides;
    roc::strides<3> expected;
  } const cases[] = {
      {"C", {2, 3, 4}, {12, 4, 1}, {12, 4, 1}},
      {"F", {2, 3, 4}, {1, 2, 6}, {1, 2, 6}},
      {"C with gaps", {2, 3, 4}, {40, 10, 2}, {12, 4, 1}},
      {"F with gaps", {2, 3, 4}, {2, 6, 30}, {1, 2, 6}},
      {"another order of axes", {2, 3, 4}, {30, 1, 5}, {12, 1, 3}},
      {"reversed", {2, 3, 4}, {-1, 2, -6}, {1, 2, 6}},
  };
  roc::device_array<int> const memory({200});
  for (auto const& test : cases) {
    roc::device_view<int, 3> const view(memory.data() + 100, test.extents, test.strides);
    EXPECT_EQ(test.expected, roc::device_array_like(view).strides()) << test.name;
  }
  std::vector<double> const host(5);
  auto const like = roc::device_array_like(host);
  static_assert(std::is_same_v<decltype(like), roc::device_array<double, 1> const>);
  EXPECT_EQ(5u, like.size());
  EXPECT_TRUE(roc::device_array_like(array2({3, 5}, roc::padded<2>{4, 8})).is_c_contiguous());
  float tile[2][3];
  EXPECT_EQ((roc::shape<2>{2, 3}), roc::device_array_like(tile).shape());
}

}  // namespace
