// SPDX-License-Identifier: MIT
#include "copy_layout.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "pattern.hpp"

namespace rocbench {
namespace {

constexpr std::byte gap{0x11};
constexpr std::byte taken{0x22};

std::vector<copy_layout> every_layout(std::size_t bytes) {
  return {contiguous_layout(bytes), rows_layout(bytes, 48, 64), planes_layout(bytes, 16, 20),
          transposed_layout(bytes, 2), transposed_layout(bytes, 4), transposed_layout(bytes, 16),
          reversed_axes_layout(bytes, 1), reversed_axes_layout(bytes, 8)};
}

// Scattered, an element lies at its place by the strides, and gathering finds it again; what lies
// between is left alone by both. Sizes with and without work for several threads.
TEST(copy_layout, scatter_and_gather_are_each_others_inverse) {
  for (std::size_t const bytes : {std::size_t{1} << 12, std::size_t{9} << 20}) {
    for (copy_layout const& layout : every_layout(bytes)) {
      for (side_layout const& side : {layout.from, layout.to}) {
        std::vector<std::byte> elements(side.payload());
        write_pattern(elements, 1);
        std::vector<std::byte> image(side.span(), gap);
        scatter(elements, side, image.data());
        auto const gaps = static_cast<std::size_t>(std::ranges::count(image, gap));
        EXPECT_EQ(gaps, side.span() - side.payload());

        std::vector<std::byte> back(side.payload());
        gather(image.data(), side, back, taken);
        EXPECT_EQ(back, elements);
        EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(image, taken)), side.payload());
        EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(image, gap)), gaps);
      }
    }
  }
}

TEST(copy_layout, scatter_puts_elements_where_strides_say) {
  copy_layout const layout = transposed_layout(4 * 9, 4);
  std::vector<std::byte> elements(36);
  write_pattern(elements, 2);
  std::vector<std::byte> image(36);
  scatter(elements, layout.to, image.data());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_TRUE(std::equal(&image[4 * (j * 3 + i)], &image[4 * (j * 3 + i)] + 4,
                             &elements[4 * (i * 3 + j)]));
    }
  }
}

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
