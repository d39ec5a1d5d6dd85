// SPDX-License-Identifier: MIT
// Canonical layouts of many axes, and that those of few allocate nothing.
#include "layout/canonical_layout.hpp"

#include <roc/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "support/failing_new.hpp"

namespace {

namespace layout = roc::layout;
using roc::detail::memory_space;
using roc::detail::strided_region;

// A copy between two regions of extent 2 on each of `Rank` axes, with these strides.
template <std::size_t Rank>
struct copy_of_pairs {
  std::array<std::size_t, Rank> shape;
  std::array<std::ptrdiff_t, Rank> source_strides{};
  std::array<std::ptrdiff_t, Rank> destination_strides{};

  explicit copy_of_pairs(std::ptrdiff_t factor) {
    shape.fill(2);
    std::ptrdiff_t source_step = 1;
    std::ptrdiff_t destination_step = 1;
    for (std::size_t i = Rank; i-- != 0;) {
      source_strides[i] = source_step;
      destination_strides[i] = destination_step;
      source_step *= 2;
      destination_step *= factor;
    }
  }

  layout::canonical_layout canonical() const {
    static std::array<std::byte, 1> source;
    static std::array<std::byte, 1> destination;
    return layout::canonicalize(strided_region{source.data(), 1, Rank, shape.data(),
                                               source_strides.data(), memory_space::host, -1},
                                strided_region{destination.data(), 1, Rank, shape.data(),
                                               destination_strides.data(), memory_space::host, -1},
                                layout::side::source);
  }
};

TEST(CanonicalLayout, AxesBeyondTheLimitAreMerged) {
  auto const canonical = copy_of_pairs<layout::max_axes + 4>(2).canonical();
  EXPECT_EQ(0u, canonical.rank);
  EXPECT_EQ(std::size_t{1} << (layout::max_axes + 4), canonical.run);
}

TEST(CanonicalLayout, AsManyAxesAsTheLimitAreKept) {
  auto const canonical = copy_of_pairs<layout::max_axes>(3).canonical();
  EXPECT_EQ(layout::max_axes - 1, canonical.rank) << "the innermost axis is part of the run";
  EXPECT_EQ(2u, canonical.run);
}

TEST(CanonicalLayout, ThrowsIfTooManyAxesRemain) {
  copy_of_pairs<layout::max_axes + 2> const copy(3);
  EXPECT_THROW(static_cast<void>(copy.canonical()), roc::layout_error);
}

// Every copy makes one.
TEST(CanonicalLayout, AllocatesNothingUpToTheLimit) {
  copy_of_pairs<layout::max_axes> const copy(3);
  EXPECT_EQ(0, roc::test::fail_each_new([&] { static_cast<void>(copy.canonical()); }));
  copy_of_pairs<layout::max_axes + 1> const larger(2);
  EXPECT_EQ(1, roc::test::fail_each_new([&] { static_cast<void>(larger.canonical()); }));
}

}  // namespace
