// SPDX-License-Identifier: MIT
// Reshape: the elements keep their logical order. A view must be returned if and only if some
// strides enumerate the elements in that order.
#include <roc/error.hpp>
#include <roc/layout/reshape.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "layout/oracle.hpp"

namespace {

using roc::order;
using roc::shape;
using roc::strides;
namespace layout = roc::layout;

constexpr layout::mapping<2> table{{4, 6}, {6, 1}, 0};

static_assert(layout::complete_shape(shape<2>{4, 6}, layout::signed_shape<3>{2, -1, 3}) ==
              shape<3>{2, 4, 3});
static_assert(layout::reshape(table, shape<3>{2, 2, 6}, order::c).strides == strides<3>{12, 6, 1});
constexpr layout::mapping<2> columns{{4, 6}, {1, 4}, 0};
static_assert(layout::reshape(columns, shape<1>{24}, order::f).strides == strides<1>{1});
static_assert(layout::squeeze<0, 2>(layout::mapping<3>{{1, 5, 1}, {5, 1, 1}, 2}).shape ==
              shape<1>{5});
static_assert(layout::transpose(table, {1, 0}).strides == strides<2>{1, 6});
static_assert(layout::reversed_axes<3>() == std::array<std::size_t, 3>{2, 1, 0});

template <std::size_t... Axes>
concept squeezes = requires(layout::mapping<3> m) { layout::squeeze<Axes...>(m); };
static_assert(squeezes<>);
static_assert(squeezes<0, 1, 2>);
static_assert(!squeezes<3>);
static_assert(!squeezes<1, 1>);

TEST(CompleteShape, ComputesExtentOfMinusOne) {
  using to = layout::signed_shape<2>;
  EXPECT_EQ((shape<2>{4, 3}), layout::complete_shape(shape<1>{12}, to{-1, 3}));
  EXPECT_EQ((shape<2>{12, 1}), layout::complete_shape(shape<1>{12}, to{12, -1}));
  EXPECT_EQ((shape<2>{0, 3}), layout::complete_shape(shape<1>{0}, to{-1, 3}));
  EXPECT_EQ((shape<2>{0, 7}), layout::complete_shape(shape<3>{2, 0, 3}, to{0, 7}));
  EXPECT_EQ((shape<1>{1}), layout::complete_shape(shape<0>{}, layout::signed_shape<1>{-1}));
  EXPECT_EQ((shape<0>{}), layout::complete_shape(shape<2>{1, 1}, layout::signed_shape<0>{}));
}

TEST(SignedExtent, NamesAnExtentAbovePtrdiffMax) {
  auto const message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (roc::shape_error const& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  std::size_t const extent = (std::size_t{1} << 63) + 5;
  std::string const expected =
      "cannot reshape to an extent of 9223372036854775813; use at most 9223372036854775807";
  EXPECT_EQ(expected, message([&] { layout::detail::signed_extent(extent); }));
  EXPECT_EQ(expected, message([&] { layout::detail::exact_extents(shape<2>{2, extent}); }));
}

TEST(CompleteShape, ThrowsForDifferentSize) {
  using to = layout::signed_shape<2>;
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{-1, 5}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{-1, -1}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{-2, 6}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{4, 4}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{0}, to{-1, 0}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{-1, 0}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{PTRDIFF_MAX, PTRDIFF_MAX}),
               roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<1>{12}, to{PTRDIFF_MAX, -1}), roc::shape_error);
  EXPECT_THROW(layout::complete_shape(shape<2>{SIZE_MAX, 2}, to{1, -1}), roc::shape_error);
}

TEST(Reshape, ThrowsForDifferentSize) {
  EXPECT_THROW(layout::reshape(table, shape<1>{23}, order::c), roc::shape_error);
  EXPECT_THROW(layout::reshape(table, shape<2>{24, 2}, order::f), roc::shape_error);
  EXPECT_THROW(layout::reshape(table, shape<0>{}, order::c), roc::shape_error);
  EXPECT_THROW(layout::reshape(layout::mapping<0>{}, shape<1>{0}, order::c), roc::shape_error);
}

TEST(Reshape, ContiguousArrayStaysContiguous) {
  for (order o : {order::c, order::f}) {
    layout::mapping<2> const m{{4, 6}, layout::compact_strides(shape<2>{4, 6}, o), 0};
    for (shape<5> const& to : {shape<5>{1, 4, 6, 1, 1}, shape<5>{1, 1, 24, 1, 1},
                               shape<5>{2, 1, 3, 1, 4}, shape<5>{1, 1, 1, 1, 24}}) {
      EXPECT_EQ(layout::compact_strides(to, o), layout::reshape(m, to, o).strides);
    }
  }
  auto const scalar = layout::reshape(layout::mapping<0>{}, shape<2>{1, 1}, order::c);
  EXPECT_EQ((strides<2>{1, 1}), scalar.strides);
}

TEST(Reshape, MessageNamesBothShapes) {
  try {
    layout::complete_shape(shape<2>{3, 4}, layout::signed_shape<2>{5, -1});
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_STREQ(
        "cannot reshape array of shape (3, 4) to (5, -1); use extents with the same number "
        "of elements, at most one of them -1",
        error.what());
  }
  try {
    layout::reshape(layout::transpose(table, {1, 0}), shape<1>{24}, order::c);
    FAIL();
  } catch (roc::layout_error const& error) {
    std::string const text = error.what();
    EXPECT_NE(std::string::npos, text.find("(6, 4)")) << text;
    EXPECT_NE(std::string::npos, text.find("(24)")) << text;
    EXPECT_NE(std::string::npos, text.find("needs a copy; use reshape_copy")) << text;
  }
}

TEST(Reshape, AcceptsExtremeStridesOfShortAxes) {
  layout::mapping<2> const odd{{1, 6}, {PTRDIFF_MIN, 1}, 0};
  EXPECT_EQ((strides<2>{3, 1}), layout::reshape(odd, shape<2>{2, 3}, order::c).strides);
  layout::mapping<1> const far{{2}, {PTRDIFF_MAX / 2 + 1}, 0};
  EXPECT_EQ(PTRDIFF_MAX / 2 + 1, layout::reshape(far, shape<2>{1, 2}, order::c).strides[1]);
}

// Returns the layout with extents `to` that enumerates the elements of `from` in order `o`, if
// there is one. Finds it from the offsets of the elements.
template <std::size_t N, std::size_t M>
std::optional<layout::mapping<M>> find_view(layout::mapping<N> const& from, shape<M> const& to,
                                            order o) {
  auto const offsets = roc::test::element_offsets(from, o);
  layout::mapping<M> result{to, {}, offsets.empty() ? from.offset : offsets[0]};
  std::size_t distance = 1;
  for (std::size_t i = 0; i < M; ++i) {
    std::size_t const axis = o == order::c ? M - 1 - i : i;
    if (to[axis] > 1 && distance < offsets.size()) {
      result.strides[axis] = offsets[distance] - offsets[0];
    }
    distance *= to[axis];
  }
  if (roc::test::element_offsets(result, o) != offsets) return std::nullopt;
  return result;
}

// Returns random extents of the given size.
template <std::size_t M>
shape<M> random_factors(roc::test::random_layouts& random, std::size_t size) {
  shape<M> result{};
  for (std::size_t i = 0; i + 1 < M; ++i) {
    std::vector<std::size_t> divisors;
    for (std::size_t d = 1; d <= std::max<std::size_t>(size, 1); ++d) {
      if (size == 0 || size % d == 0) divisors.push_back(d);
    }
    result[i] = divisors[random.below(divisors.size())];
    size /= result[i];
  }
  result[M - 1] = size;
  random.shuffle(result);
  return result;
}

template <std::size_t N, std::size_t M>
void check_reshapes(roc::test::random_layouts& random, int& views, int& errors) {
  for (int i = 0; i < 3000; ++i) {
    auto const from = i % 5 == 0 ? random.any_mapping<N>(4) : random.mapping<N>(6);
    auto const to = random_factors<M>(random, layout::element_count(from.shape));
    order const o = random.one_in(2) ? order::c : order::f;
    auto const expected = find_view(from, to, o);
    try {
      auto const view = layout::reshape(from, to, o);
      ++views;
      ASSERT_EQ(to, view.shape);
      ASSERT_TRUE(expected);
      ASSERT_EQ(roc::test::element_offsets(from, o), roc::test::element_offsets(view, o));
    } catch (roc::layout_error const&) {
      ++errors;
      ASSERT_FALSE(expected);
    }
  }
}

TEST(Reshape, ReturnsViewIfAndOnlyIfOneExists) {
  roc::test::random_layouts random("Reshape");
  int views = 0;
  int errors = 0;
  check_reshapes<1, 1>(random, views, errors);
  check_reshapes<1, 3>(random, views, errors);
  check_reshapes<2, 1>(random, views, errors);  // ravel
  check_reshapes<2, 2>(random, views, errors);
  check_reshapes<2, 4>(random, views, errors);
  check_reshapes<3, 2>(random, views, errors);
  check_reshapes<3, 3>(random, views, errors);
  check_reshapes<4, 3>(random, views, errors);
  EXPECT_GT(views, 3000);
  EXPECT_GT(errors, 1000);
}

TEST(Squeeze, DropsAxesOfExtentOne) {
  layout::mapping<3> const m{{1, 5, 1}, {7, 2, 9}, 3};
  EXPECT_EQ((strides<2>{7, 2}), layout::squeeze<2>(m).strides);
  EXPECT_EQ((shape<1>{5}), (layout::squeeze<0, 2>(m).shape));
  EXPECT_EQ(3, (layout::squeeze<0, 2>(m).offset));
  EXPECT_EQ(m.shape, layout::squeeze<>(m).shape);
  EXPECT_THROW(layout::squeeze<1>(m), roc::shape_error);
  EXPECT_THROW(layout::squeeze<0>(layout::mapping<1>{{0}, {1}, 0}), roc::shape_error);
}

TEST(Transpose, ThrowsUnlessAxesAreAPermutation) {
  EXPECT_THROW(layout::transpose(table, {0, 0}), roc::layout_error);
  EXPECT_THROW(layout::transpose(table, {0, 2}), roc::layout_error);
  EXPECT_THROW(layout::transpose(table, {SIZE_MAX, 0}), roc::layout_error);
  try {
    layout::transpose(table, {1, 1});
  } catch (roc::layout_error const& error) {
    EXPECT_STREQ("transpose axes are not a permutation: (1, 1); name every axis once",
                 error.what());
  }
}

TEST(Transpose, PermutesAxes) {
  roc::test::random_layouts random("Transpose");
  for (int i = 0; i < 3000; ++i) {
    auto const m = random.mapping<3>(5);
    std::array<std::size_t, 3> axes{0, 1, 2};
    random.shuffle(axes);
    auto const transposed = layout::transpose(m, axes);
    std::array<std::size_t, 3> inverse{};
    for (std::size_t k = 0; k < 3; ++k) inverse[axes[k]] = k;
    auto const restored = layout::transpose(transposed, inverse);
    ASSERT_EQ(m.shape, restored.shape);
    ASSERT_EQ(m.strides, restored.strides);
    ASSERT_EQ(m.offset, transposed.offset);
    ASSERT_EQ(
        roc::test::element_offsets(m, order::f),
        roc::test::element_offsets(layout::transpose(m, layout::reversed_axes<3>()), order::c));
  }
}

}  // namespace
