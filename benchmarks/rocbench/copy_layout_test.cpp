// SPDX-License-Identifier: MIT
#include "copy_layout.hpp"

#include <gtest/gtest.h>

namespace rocbench {
namespace {

TEST(CopyLayout, HasAllRowsThatFitAndAtLeastOne) {
  EXPECT_EQ(rows_layout(1000, 300, 400).source.extents, (roc::shape<3>{1, 3, 300}));
  EXPECT_EQ(rows_layout(100, 300, 400).source.extents, (roc::shape<3>{1, 1, 100}));
  EXPECT_EQ(planes_layout(1, 300, 400).source.extents, (roc::shape<3>{1, 1, 1}));
  EXPECT_EQ(planes_layout(128 * 300, 300, 400).source.extents, (roc::shape<3>{2, 64, 300}));
  EXPECT_EQ(planes_layout(128 * 300, 300, 400).source.strides, (roc::strides<3>{65 * 400, 400, 1}));
}

TEST(CopyLayout, SquaresAndCubesAreLargestThatFit) {
  EXPECT_EQ(transposed_layout(4 * 100, 4).source.payload_bytes(), 400u);
  EXPECT_EQ(transposed_layout(4 * 99, 4).source.payload_bytes(), 4u * 81);
  EXPECT_EQ(reversed_axes_layout(4 * 1000, 4).source.payload_bytes(), 4000u);
  EXPECT_EQ(reversed_axes_layout(4 * 999, 4).source.payload_bytes(), 4u * 729);
  EXPECT_EQ(transposed_layout(1, 4).source.payload_bytes(), 4u);
}

}  // namespace
}  // namespace rocbench
