// SPDX-License-Identifier: MIT
// Index expressions: compared with an enumeration of the selected elements, and errors.
#include <roc/error.hpp>
#include <roc/layout/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "layout/oracle.hpp"

namespace {

using roc::all;
using roc::ellipsis;
using roc::newaxis;
using roc::none;
using roc::slice;
namespace layout = roc::layout;

constexpr layout::mapping<2> table{{3, 4}, {4, 1}, 0};

template <class... E>
concept accepted = requires(layout::mapping<2> m, E... e) { layout::index(m, e...); };

static_assert(accepted<int, int>);
static_assert(accepted<slice, unsigned char>);
static_assert(accepted<roc::ellipsis_t>);
static_assert(accepted<int, roc::ellipsis_t, int>);
static_assert(accepted<int, int, roc::ellipsis_t>);
static_assert(accepted<roc::newaxis_t, roc::all_t, roc::newaxis_t, slice, roc::newaxis_t>);
static_assert(!accepted<>);
static_assert(!accepted<int>);
static_assert(!accepted<int, int, int>);
static_assert(!accepted<slice, slice, roc::ellipsis_t, slice>);
static_assert(!accepted<roc::ellipsis_t, roc::ellipsis_t>);
static_assert(!accepted<roc::newaxis_t, int>);
static_assert(!accepted<bool, int>);
static_assert(!accepted<double, int>);
static_assert(!accepted<roc::none_t, int>);
static_assert(!accepted<char const*, int>);
static_assert(!std::is_constructible_v<slice, bool, int>);
static_assert(!std::is_constructible_v<slice, double, int>);
static_assert(!std::is_constructible_v<slice, int, int, double>);
static_assert(!std::is_constructible_v<slice, int, int, bool>);
static_assert(!std::is_constructible_v<slice, int, int, roc::none_t>);

static_assert(layout::index(table, 1, 2).offset == 6);
static_assert(layout::index(table, -1, -4).offset == 8);
static_assert(layout::index(table, slice(none, none, -1), all).offset == 8);
static_assert(layout::index(table, slice(none, none, -1), all).strides == roc::strides<2>{-4, 1});
static_assert(layout::index(table, newaxis, ellipsis).shape == roc::shape<3>{1, 3, 4});
static_assert(layout::index(table, all, slice(0, 4, 3)).shape == roc::shape<2>{3, 2});
static_assert(layout::index_rank<2, int, int> == 0);

std::optional<std::size_t> length(std::size_t extent, slice s) {
  try {
    return layout::index(layout::mapping<1>{{extent}, {1}, 0}, s).shape[0];
  } catch (roc::shape_error const&) {
    return std::nullopt;
  }
}

TEST(Slice, HasTheRoundedUpNumberOfSteps) {
  EXPECT_EQ(3u, length(5, slice(0, 5, 2)));
  EXPECT_EQ(2u, length(5, slice(1, 5, 2)));
  EXPECT_EQ(1u, length(5, slice(0, 5, 5)));
  EXPECT_EQ(1u, length(5, slice(0, 5, 100)));
  EXPECT_EQ(3u, length(5, slice(none, none, -2)));
  EXPECT_EQ(2u, length(5, slice(3, none, -2)));
  EXPECT_EQ(2u, length(5, slice(-1, -4, -2)));
  EXPECT_EQ(1u, length(5, slice(-1, none)));
}

TEST(Slice, EmptySelectionIsNoError) {
  EXPECT_EQ(0u, length(5, slice(5, 5)));
  EXPECT_EQ(0u, length(5, slice(5, none)));
  EXPECT_EQ(0u, length(5, slice(4, 1)));
  EXPECT_EQ(0u, length(5, slice(1, 4, -1)));
  EXPECT_EQ(0u, length(0, slice(none, none)));
  EXPECT_EQ(0u, length(0, slice(none, none, -1)));
  EXPECT_EQ(0u, length(0, slice(none, 0, -1)));
  EXPECT_EQ(0u, length(0, slice(0, none, -1)));
  EXPECT_EQ(0u, length(0, slice(0, 0)));
  // The offset of an empty region stays inside the array.
  EXPECT_EQ(0, layout::index(table, slice(3, 3), slice(4, none)).offset);
  EXPECT_EQ(0, layout::index(table, 2, slice(4, none)).offset);
}

TEST(Index, ThrowsShapeErrorIfOutOfBounds) {
  EXPECT_FALSE(length(5, slice(0, 6)));
  EXPECT_FALSE(length(5, slice(6, none)));
  EXPECT_FALSE(length(5, slice(-6, none)));
  EXPECT_FALSE(length(5, slice(0, -6)));
  EXPECT_FALSE(length(5, slice(5, none, -1)));
  EXPECT_FALSE(length(5, slice(4, -6, -1)));
  EXPECT_FALSE(length(5, slice(-6, none, -1)));
  EXPECT_FALSE(length(5, slice(PTRDIFF_MIN, PTRDIFF_MAX)));
  EXPECT_FALSE(length(5, slice(0u, SIZE_MAX)));
  EXPECT_FALSE(length(5, slice(SIZE_MAX, none)));
  EXPECT_FALSE(length(0, slice(0, 1)));
  EXPECT_FALSE(length(0, slice(1, none, -1)));
  EXPECT_THROW(layout::index(table, 3, 0), roc::shape_error);
  EXPECT_THROW(layout::index(table, -4, 0), roc::shape_error);
  EXPECT_THROW(layout::index(table, 0, SIZE_MAX), roc::shape_error);
  EXPECT_THROW(layout::index(table, PTRDIFF_MIN, 0), roc::shape_error);
  EXPECT_THROW(layout::index(layout::mapping<1>{{0}, {1}, 0}, 0), roc::shape_error);
  EXPECT_THROW(layout::index(layout::mapping<1>{{0}, {1}, 0}, -1), roc::shape_error);
}

TEST(Slice, ThrowsForStepOfZero) {
  EXPECT_FALSE(length(5, slice(0, 5, 0)));
  EXPECT_FALSE(length(0, slice(none, none, 0)));
}

TEST(Slice, AcceptsLargestSteps) {
  EXPECT_EQ(1u, length(5, slice(2, none, PTRDIFF_MAX)));
  EXPECT_EQ(1u, length(5, slice(2, none, PTRDIFF_MIN)));
  layout::mapping<1> const wide{{5}, {6}, 0};
  EXPECT_EQ(12, layout::index(wide, slice(2, none, PTRDIFF_MIN)).offset);
  // An unsigned step is positive, however large.
  EXPECT_EQ(1u, length(5, slice(none, none, SIZE_MAX)));
  EXPECT_EQ(0, layout::index(wide, slice(none, none, SIZE_MAX)).offset);
}

TEST(Index, MessageNamesIndexAxisAndSize) {
  try {
    layout::index(table, 0, 7);
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ("index 7 is out of bounds for axis 1 with size 4", error.what());
  }
  try {
    layout::index(table, SIZE_MAX, 0);
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ("index 18446744073709551615 is out of bounds for axis 0 with size 3",
                 error.what());
  }
}

TEST(Slice, MessageNamesSliceAxisAndSize) {
  try {
    layout::index(table, 0, slice(none, 9, 2));
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ("slice(none, 9, 2) is out of bounds for axis 1 with size 4", error.what());
  }
  try {
    layout::index(table, 0, slice(SIZE_MAX, (SIZE_MAX >> 1) + 1));
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ(
        "slice(18446744073709551615, 9223372036854775808, 1) is out of bounds for axis 1 with size "
        "4",
        error.what());
  }
  try {
    layout::index(table, 0, slice(PTRDIFF_MIN, none));
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ("slice(-9223372036854775808, none, 1) is out of bounds for axis 1 with size 4",
                 error.what());
  }
  try {
    layout::index(table, slice(-1, none, 0), 0);
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ(
        "slice(-1, none, 0) of axis 0 has a step of zero; use a positive or a negative step",
        error.what());
  }
}

TEST(Index, NewAxisAndEllipsisKeepOtherAxes) {
  auto const m = layout::index(layout::mapping<4>{{2, 3, 4, 5}, {60, 20, 5, 1}, 0}, 1, ellipsis,
                               newaxis, slice(none, none, -1));
  EXPECT_EQ((roc::shape<4>{3, 4, 1, 5}), m.shape);
  EXPECT_EQ((roc::strides<4>{20, 5, 0, -1}), m.strides);
  EXPECT_EQ(64, m.offset);
  auto const empty_ellipsis = layout::index(table, 1, ellipsis, 2);
  EXPECT_EQ(6, empty_ellipsis.offset);
  auto const scalar = layout::index(layout::mapping<0>{{}, {}, 3}, ellipsis, newaxis);
  EXPECT_EQ((roc::shape<1>{1}), scalar.shape);
  EXPECT_EQ(3, scalar.offset);
}

// Returns the indices that Python's range would enumerate, or nothing if the slice is an error.
std::optional<std::vector<std::size_t>> selected_indices(slice const& s, std::size_t extent) {
  auto const n = static_cast<std::ptrdiff_t>(extent);
  if (s.step == 0) return std::nullopt;
  auto const resolve = [&](layout::slice_end end,
                           std::ptrdiff_t default_end) -> std::optional<std::ptrdiff_t> {
    if (end.is_none) return default_end;
    std::ptrdiff_t const index = end.value < 0 ? end.value + n : end.value;
    std::ptrdiff_t const last = s.step > 0 || n == 0 ? n : n - 1;
    if (index < 0 || index > last) return std::nullopt;
    return index;
  };
  auto const start = resolve(s.start, s.step > 0 ? 0 : n - 1);
  auto const stop = resolve(s.stop, s.step > 0 ? n : -1);
  if (!start || !stop) return std::nullopt;
  std::vector<std::size_t> result;
  for (std::ptrdiff_t i = *start; s.step > 0 ? i < *stop : i > *stop; i += s.step) {
    if (i >= 0 && i < n) result.push_back(static_cast<std::size_t>(i));
  }
  return result;
}

slice random_slice(roc::test::random_layouts& random, std::size_t extent) {
  auto const n = static_cast<std::ptrdiff_t>(extent);
  auto const end = [&]() -> layout::slice_end {
    if (random.one_in(4)) return none;
    return random.between(random.one_in(20) ? -n - 2 : -n, random.one_in(20) ? n + 2 : n);
  };
  auto const start = end();
  auto const stop = end();
  return slice(start, stop, random.one_in(40) ? 0 : random.between(-4, 4));
}

TEST(Index, MatchesEnumerationOfAllIndices) {
  roc::test::random_layouts random("Index");
  int errors = 0;
  for (int i = 0; i < 20000; ++i) {
    auto const m = random.mapping<3>(6);
    slice const first = random_slice(random, m.shape[0]);
    slice const last = random_slice(random, m.shape[2]);
    auto const n = static_cast<std::ptrdiff_t>(m.shape[1]);
    std::ptrdiff_t const lowest = -n - (random.one_in(20) ? 1 : 0);
    std::ptrdiff_t const middle = random.between(lowest, std::max(lowest, n - 1));
    auto const rows = selected_indices(first, m.shape[0]);
    auto const columns = selected_indices(last, m.shape[2]);
    bool const is_valid = rows && columns && middle >= -n && n > 0;
    try {
      auto const region = layout::index(m, first, middle, newaxis, last);
      ASSERT_TRUE(is_valid);
      std::vector<std::ptrdiff_t> expected;
      for (std::size_t a : *rows) {
        for (std::size_t b : *columns) {
          expected.push_back(m.offset + static_cast<std::ptrdiff_t>(a) * m.strides[0] +
                             (middle < 0 ? middle + n : middle) * m.strides[1] +
                             static_cast<std::ptrdiff_t>(b) * m.strides[2]);
        }
      }
      ASSERT_EQ((roc::shape<3>{rows->size(), 1, columns->size()}), region.shape);
      ASSERT_EQ(expected, roc::test::element_offsets(region));
      ASSERT_EQ(expected, roc::test::element_offsets(layout::index(layout::index(m, ellipsis, last),
                                                                   first, middle, ellipsis)));
    } catch (roc::shape_error const&) {
      ++errors;
      ASSERT_FALSE(is_valid);
    }
  }
  EXPECT_GT(errors, 500);
  EXPECT_LT(errors, 15000);
}

}  // namespace
