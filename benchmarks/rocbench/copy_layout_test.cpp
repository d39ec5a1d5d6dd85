// SPDX-License-Identifier: MIT
#include "copy_layout.hpp"

#include <gtest/gtest.h>

namespace rocbench {
namespace {

TEST(copy_layout, has_as_many_whole_rows_as_fit_and_one_at_least) {
  EXPECT_EQ(rows_layout(1000, 300, 400).from.extents, (roc::shape<3>{1, 3, 300}));
  EXPECT_EQ(rows_layout(100, 300, 400).from.extents, (roc::shape<3>{1, 1, 100}));
  EXPECT_EQ(planes_layout(1, 300, 400).from.extents, (roc::shape<3>{1, 1, 1}));
  EXPECT_EQ(planes_layout(128 * 300, 300, 400).from.extents, (roc::shape<3>{2, 64, 300}));
  EXPECT_EQ(planes_layout(128 * 300, 300, 400).from.strides, (roc::strides<3>{65 * 400, 400, 1}));
}

TEST(copy_layout, squares_and_cubes_are_the_largest_that_fit) {
  EXPECT_EQ(transposed_layout(4 * 100, 4).from.payload(), 400u);
  EXPECT_EQ(transposed_layout(4 * 99, 4).from.payload(), 4u * 81);
  EXPECT_EQ(reversed_axes_layout(4 * 1000, 4).from.payload(), 4000u);
  EXPECT_EQ(reversed_axes_layout(4 * 999, 4).from.payload(), 4u * 729);
  EXPECT_EQ(transposed_layout(1, 4).from.payload(), 4u);
}

}  // namespace
}  // namespace rocbench
