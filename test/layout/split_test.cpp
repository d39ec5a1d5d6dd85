// SPDX-License-Identifier: MIT
// Parts of an axis, the same bytes as elements of another size, members of records.
#include <roc/error.hpp>
#include <roc/layout/split.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "layout/oracle.hpp"

namespace {

using roc::shape;
using roc::strides;
namespace layout = roc::layout;

constexpr layout::mapping<2> table{{3, 10}, {10, 1}, 0};
static_assert(layout::split_count(table, 1, 4) == 3);
static_assert(layout::split_part(table, 1, 4, 2).shape == shape<2>{3, 2});
static_assert(layout::split_part(table, 1, 4, 2).offset == 8);
static_assert(layout::reinterpret(table, 8, 4).shape == shape<2>{3, 20});
static_assert(layout::reinterpret(table, 4, 8).strides == strides<2>{5, 1});
static_assert(layout::field(table, 24, 4, 12).strides == strides<2>{20, 2});
static_assert(layout::field(layout::mapping<0>{{}, {}, 3}, 16, 8, 4).offset == 12);

TEST(Split, ThrowsForInvalidSectionAxisOrPart) {
  EXPECT_THROW(layout::split_count(table, 1, 0), roc::shape_error);
  EXPECT_THROW(layout::split_count(table, 2, 1), roc::shape_error);
  EXPECT_THROW(layout::split_part(table, 1, 0, 0), roc::shape_error);
  EXPECT_THROW(layout::split_part(table, 1, 4, 3), roc::shape_error);
  EXPECT_THROW(layout::split_part(table, 1, 4, SIZE_MAX), roc::shape_error);
  EXPECT_EQ(0u, layout::split_count(layout::mapping<1>{{0}, {1}, 0}, 0, 4));
  try {
    layout::split_count(table, 1, 0);
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ(
        "cannot split axis 1 of shape (3, 10) into sections of 0; use an existing axis and a "
        "section of 1 or more",
        error.what());
  }
}

TEST(Split, SectionLongerThanAxisIsOnePart) {
  EXPECT_EQ(1u, layout::split_count(table, 1, SIZE_MAX));
  EXPECT_EQ(table.shape, layout::split_part(table, 1, SIZE_MAX, 0).shape);
}

TEST(Split, PartsCoverTheAxisInOrder) {
  roc::test::random_layouts random("Split");
  for (int i = 0; i < 5000; ++i) {
    auto const m = random.mapping<3>(7);
    std::size_t const axis = random.below(3);
    std::size_t const section = 1 + random.below(8);
    std::size_t covered = 0;
    std::size_t const parts = layout::split_count(m, axis, section);
    for (std::size_t k = 0; k < parts; ++k) {
      auto const part = layout::split_part(m, axis, section, k);
      ASSERT_EQ(k + 1 < parts ? section : m.shape[axis] - covered, part.shape[axis]);
      layout::mapping<3> expected = m;
      expected.shape[axis] = part.shape[axis];
      expected.offset += static_cast<std::ptrdiff_t>(covered) * m.strides[axis];
      ASSERT_EQ(roc::test::element_offsets(expected), roc::test::element_offsets(part));
      covered += part.shape[axis];
    }
    ASSERT_EQ(m.shape[axis], covered);
  }
}

// Returns the offsets of the bytes of all elements, in logical order.
template <std::size_t N>
std::vector<std::ptrdiff_t> byte_offsets(layout::mapping<N> const& m, std::size_t size) {
  std::vector<std::ptrdiff_t> result;
  for (std::ptrdiff_t offset : roc::test::element_offsets(m)) {
    for (std::size_t k = 0; k < size; ++k) {
      result.push_back(offset * static_cast<std::ptrdiff_t>(size) + static_cast<std::ptrdiff_t>(k));
    }
  }
  return result;
}

TEST(Reinterpret, ThrowsUnlessSizesStridesAndExtentsFit) {
  layout::mapping<2> const sliced{{3, 10}, {11, 1}, 0};
  layout::mapping<2> const odd{{3, 5}, {6, 1}, 0};
  layout::mapping<1> const moved{{4}, {1}, 1};
  layout::mapping<1> const spread{{4}, {2}, 0};
  EXPECT_THROW(layout::reinterpret(table, 4, 6), roc::layout_error);
  EXPECT_THROW(layout::reinterpret(sliced, 4, 8), roc::layout_error);
  EXPECT_THROW(layout::reinterpret(odd, 4, 8), roc::shape_error);
  EXPECT_THROW(layout::reinterpret(moved, 4, 8), roc::layout_error);
  EXPECT_THROW(layout::reinterpret(spread, 4, 8), roc::layout_error);
  EXPECT_THROW(layout::reinterpret(spread, 8, 4), roc::layout_error);
  EXPECT_THROW(layout::reinterpret(layout::mapping<0>{{}, {}, 0}, 8, 4), roc::layout_error);
  EXPECT_THROW(layout::reinterpret(layout::mapping<2>{{2, 2}, {PTRDIFF_MAX, 1}, 0}, 8, 4),
               roc::layout_error);
  EXPECT_EQ(spread.strides, layout::reinterpret(spread, 4, 4).strides);
  EXPECT_EQ(0, layout::reinterpret(layout::mapping<0>{{}, {}, 0}, 4, 4).offset);
}

TEST(Reinterpret, SingleElementIgnoresStrides) {
  auto const m = layout::reinterpret(layout::mapping<2>{{1, 1}, {PTRDIFF_MIN, 5}, 2}, 8, 2);
  EXPECT_EQ((shape<2>{1, 4}), m.shape);
  EXPECT_EQ(1, m.strides[1]);
  EXPECT_EQ(8, m.offset);
}

TEST(Reinterpret, KeepsEveryByteAndCanBeReversed) {
  roc::test::random_layouts random("Reinterpret");
  int changed = 0;
  for (int i = 0; i < 8000; ++i) {
    auto const m = random.mapping<3>(6);
    std::size_t const from = std::size_t{1} << random.below(4);
    std::size_t const to = std::size_t{1} << random.below(4);
    try {
      auto const other = layout::reinterpret(m, from, to);
      ++changed;
      auto before = byte_offsets(m, from);
      auto after = byte_offsets(other, to);
      // If the axis of stride 1 is not the last, the bytes are in another order.
      if (m.shape[2] == 1 || m.strides[2] != 1) {
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
      }
      ASSERT_EQ(before, after);
      if (to < from) {
        auto const back = layout::reinterpret(other, to, from);
        auto restored = byte_offsets(back, from);
        std::sort(before.begin(), before.end());
        std::sort(restored.begin(), restored.end());
        ASSERT_EQ(before, restored);
      }
    } catch (roc::layout_error const&) {
      bool unit = false;
      for (std::size_t k = 0; k < 3; ++k) unit = unit || (m.strides[k] == 1 && m.shape[k] != 1);
      ASSERT_TRUE(to > from || !unit);
    } catch (roc::shape_error const&) {
      ASSERT_GT(to, from);
    }
  }
  EXPECT_GT(changed, 2000);
}

TEST(Field, ThrowsUnlessMemberFitsRecord) {
  EXPECT_THROW(layout::field(table, 24, 0, 16), roc::layout_error);
  EXPECT_THROW(layout::field(table, 24, 16, 12), roc::layout_error);
  EXPECT_THROW(layout::field(table, 8, 0, 16), roc::layout_error);
  EXPECT_THROW(layout::field(table, 8, SIZE_MAX, 4), roc::layout_error);
  EXPECT_THROW(layout::field(table, 8, 0, 0), roc::layout_error);
  EXPECT_THROW(layout::field(layout::mapping<1>{{2}, {PTRDIFF_MAX / 2 + 1}, 0}, 8, 0, 4),
               roc::layout_error);
  EXPECT_THROW(layout::field(layout::mapping<1>{{2}, {1}, PTRDIFF_MIN}, 8, 0, 4),
               roc::layout_error);
  EXPECT_NO_THROW(layout::field(layout::mapping<2>{{1, 2}, {PTRDIFF_MAX, 1}, 0}, 8, 0, 4));
  EXPECT_NO_THROW(layout::field(layout::mapping<2>{{0, 2}, {1, PTRDIFF_MAX}, 0}, 8, 0, 4));
  try {
    layout::field(table, 24, 0, 16);
    FAIL();
  } catch (roc::layout_error const& error) {
    EXPECT_STREQ(
        "cannot view field of 16 bytes at offset 0 in records of 24 bytes: its size does not "
        "divide the record's; use field_copy",
        error.what());
  }
}

TEST(Field, SelectsTheMemberOfEveryRecord) {
  roc::test::random_layouts random("Field");
  for (int i = 0; i < 5000; ++i) {
    auto const m = i % 2 == 0 ? random.mapping<3>(5) : random.any_mapping<3>(5);
    std::size_t const size = 1 + random.below(16);
    std::size_t const record = size * (1 + random.below(6));
    std::size_t const offset = random.below(record - size + 1);
    auto const members = roc::test::element_offsets(layout::field(m, record, offset, size));
    auto const records = roc::test::element_offsets(m);
    ASSERT_EQ(records.size(), members.size());
    for (std::size_t k = 0; k < records.size(); ++k) {
      ASSERT_EQ(records[k] * static_cast<std::ptrdiff_t>(record),
                members[k] * static_cast<std::ptrdiff_t>(size));
    }
  }
}

}  // namespace
