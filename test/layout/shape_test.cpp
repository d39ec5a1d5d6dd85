// SPDX-License-Identifier: MIT
// Sizes, contiguous strides, contiguity, ranges and uniqueness, compared with an enumeration of all
// elements.
#include <roc/error.hpp>
#include <roc/layout/shape.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "layout/oracle.hpp"

namespace {

using roc::order;
using roc::shape;
using roc::strides;
namespace layout = roc::layout;

constexpr std::size_t big = std::size_t{1} << 40;
constexpr std::ptrdiff_t min_stride = PTRDIFF_MIN;

static_assert(layout::element_count(shape<3>{2, 3, 4}) == 24);
static_assert(layout::element_count(shape<0>{}) == 1);
static_assert(layout::element_count(shape<3>{big, big, 0}) == 0);
static_assert(layout::compact_strides(shape<3>{2, 3, 4}) == strides<3>{12, 4, 1});
static_assert(layout::compact_strides(shape<3>{2, 3, 4}, order::f) == strides<3>{1, 2, 6});
static_assert(layout::is_c_contiguous(shape<2>{2, 3}, strides<2>{3, 1}));
static_assert(!layout::is_c_contiguous(shape<2>{2, 3}, strides<2>{-3, 1}));
static_assert(layout::is_f_contiguous(shape<2>{2, 3}, strides<2>{1, 2}));
static_assert(layout::is_c_contiguous(shape<3>{0, big, big}, strides<3>{7, big, 1}));
static_assert(!layout::is_c_contiguous(shape<2>{big, big}, strides<2>{1, big}));
static_assert(layout::element_range(shape<2>{3, 2}, strides<2>{-4, 1}).low == -8);
static_assert(layout::element_range(shape<2>{3, 2}, strides<2>{-4, 1}).high == 2);
static_assert(layout::is_unique(shape<2>{2, 3}, strides<2>{3, 1}));
static_assert(!layout::is_unique(shape<2>{2, 3}, strides<2>{2, 1}));
static_assert(layout::is_unique(shape<2>{2, 1}, strides<2>{min_stride, 0}));
static_assert(layout::like_strides(shape<3>{2, 3, 4}, strides<3>{1, 2, 6}) == strides<3>{1, 2, 6});
static_assert(layout::like_strides(shape<3>{2, 3, 4}, strides<3>{100, 1, 9}) ==
              strides<3>{12, 1, 3});
static_assert(layout::like_strides(shape<2>{2, 3}, strides<2>{1, min_stride}) == strides<2>{1, 2});

TEST(ElementCount, IsTheProductOfExtents) {
  EXPECT_EQ(1u, layout::element_count(shape<1>{1}));
  EXPECT_EQ(0u, layout::element_count(shape<2>{5, 0}));
  constexpr std::size_t half = std::size_t{1} << 31;
  EXPECT_EQ(half * half, layout::element_count(shape<2>{half, half}));
}

TEST(Shape, ThrowsForSizeBeyondAddressSpace) {
  EXPECT_THROW(layout::element_count(shape<2>{big, big}), roc::shape_error);
  EXPECT_THROW(layout::element_count(shape<1>{SIZE_MAX}), roc::shape_error);
  EXPECT_THROW(layout::element_count(shape<2>{std::size_t{1} << 63, 2}), roc::shape_error);
  EXPECT_THROW(layout::compact_strides(shape<2>{big, big}), roc::shape_error);
  EXPECT_THROW(layout::like_strides(shape<2>{big, big}, strides<2>{1, 5}), roc::shape_error);
  EXPECT_NO_THROW(layout::check_size(shape<1>{std::size_t{1} << 60}, 4));
  EXPECT_THROW(layout::check_size(shape<1>{std::size_t{1} << 60}, 8), roc::shape_error);
  EXPECT_NO_THROW(layout::check_size(shape<3>{big, big, 0}, 8));
  EXPECT_EQ((strides<3>{0, PTRDIFF_MAX, 1}), layout::compact_strides(shape<3>{7, 0, SIZE_MAX}));
}

TEST(ElementRange, ThrowsForRangeBeyondAddressSpace) {
  EXPECT_THROW(layout::element_range(shape<1>{3}, strides<1>{PTRDIFF_MAX}), roc::shape_error);
  EXPECT_THROW(layout::element_range(shape<1>{3}, strides<1>{min_stride}), roc::shape_error);
  EXPECT_THROW(layout::element_range(shape<2>{2, 2}, strides<2>{PTRDIFF_MAX - 1, 5}),
               roc::shape_error);
  EXPECT_THROW(
      layout::element_range(shape<2>{2, 2}, strides<2>{PTRDIFF_MAX / 2, min_stride / 2 - 9}),
      roc::shape_error);
  EXPECT_NO_THROW(layout::element_range(shape<2>{1, 1}, strides<2>{PTRDIFF_MAX, min_stride}));
  EXPECT_NO_THROW(layout::element_range(shape<2>{0, 9}, strides<2>{PTRDIFF_MAX, min_stride}));
}

TEST(Shape, MessageNamesShapeAndAdvice) {
  try {
    layout::element_count(shape<2>{big, big});
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ("array size overflows: shape (1099511627776, 1099511627776); use smaller extents",
                 error.what());
  }
}

template <std::size_t N>
void compare_with_enumeration(roc::test::random_layouts& random) {
  for (int i = 0; i < 4000; ++i) {
    auto const m = i % 2 == 0 ? random.mapping<N>(5) : random.any_mapping<N>(5);
    auto const c = roc::test::element_offsets(m, order::c);
    auto const f = roc::test::element_offsets(m, order::f);
    ASSERT_EQ(c.size(), layout::element_count(m.shape));

    auto const is_consecutive = [&](std::vector<std::ptrdiff_t> const& offsets) {
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        if (offsets[k] != m.offset + static_cast<std::ptrdiff_t>(k)) return false;
      }
      return true;
    };
    ASSERT_EQ(is_consecutive(c), layout::is_c_contiguous(m.shape, m.strides));
    ASSERT_EQ(is_consecutive(f), layout::is_f_contiguous(m.shape, m.strides));

    auto const range = layout::element_range(m.shape, m.strides);
    if (c.empty()) {
      ASSERT_EQ(range.low, 0);
      ASSERT_EQ(range.high, 0);
    } else {
      ASSERT_EQ(*std::min_element(c.begin(), c.end()), m.offset + range.low);
      ASSERT_EQ(*std::max_element(c.begin(), c.end()) + 1, m.offset + range.high);
    }

    bool const distinct = std::set<std::ptrdiff_t>(c.begin(), c.end()).size() == c.size();
    bool const unique = layout::is_unique(m.shape, m.strides);
    if (unique) {
      ASSERT_TRUE(distinct);
    }
    if (i % 2 == 0) {
      ASSERT_TRUE(unique);
    }

    for (order o : {order::c, order::f}) {
      layout::mapping<N> const compact{m.shape, layout::compact_strides(m.shape, o), 0};
      auto const offsets = roc::test::element_offsets(compact, o);
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        ASSERT_EQ(static_cast<std::ptrdiff_t>(k), offsets[k]);
      }
    }

    // like_strides returns contiguous strides, and keeps the order of axes in memory.
    layout::mapping<N> const like{m.shape, layout::like_strides(m.shape, m.strides), 0};
    auto const packed = roc::test::element_offsets(like);
    std::set<std::ptrdiff_t> const all(packed.begin(), packed.end());
    ASSERT_EQ(all.size(), packed.size());
    if (!packed.empty()) {
      ASSERT_EQ(0, *all.begin());
      ASSERT_EQ(packed.size(), static_cast<std::size_t>(*all.rbegin()) + 1);
    }
    if (layout::is_c_contiguous(m.shape, m.strides)) {
      ASSERT_TRUE(layout::is_c_contiguous(m.shape, like.strides));
    } else if (layout::is_f_contiguous(m.shape, m.strides)) {
      ASSERT_TRUE(layout::is_f_contiguous(m.shape, like.strides));
    } else if (!packed.empty()) {
      for (std::size_t a = 0; a < N; ++a) {
        for (std::size_t b = 0; b < N; ++b) {
          if (std::abs(m.strides[a]) < std::abs(m.strides[b])) {
            ASSERT_LE(like.strides[a], like.strides[b]);
          }
        }
      }
    }
  }
}

TEST(Shape, MatchesEnumerationOfAllIndices) {
  roc::test::random_layouts random("Shape");
  compare_with_enumeration<0>(random);
  compare_with_enumeration<1>(random);
  compare_with_enumeration<2>(random);
  compare_with_enumeration<3>(random);
  compare_with_enumeration<4>(random);
}

}  // namespace
