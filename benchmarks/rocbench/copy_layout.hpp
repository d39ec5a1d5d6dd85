// SPDX-License-Identifier: MIT
// Where the elements of a copy lie on each of its two sides.
#pragma once

#include <cstddef>

#include <roc/layout/shape.hpp>

#include "image.hpp"

namespace rocbench {

/// One side: elements at strides, counted in elements from where the side begins.
struct side_layout {
  std::size_t element = 1;  ///< bytes: 1, 2, 4, 8 or 16
  roc::shape<3> extents{};
  roc::strides<3> strides{};  ///< none negative

  std::size_t payload() const;  ///< bytes of the elements
  std::size_t span() const;     ///< bytes from the first element to the last, gaps included
  bool is_contiguous() const;
};

struct copy_layout {
  side_layout from;
  side_layout to;
};

/// `bytes` bytes without gaps.
copy_layout contiguous_layout(std::size_t bytes);
/// Rows of bytes at a pitch on both sides, as many as fit in `bytes`, one at least.
copy_layout rows_layout(std::size_t bytes, std::size_t row, std::size_t pitch);
/// Planes of 64 rows (fewer where there are fewer), a row left out behind each plane.
copy_layout planes_layout(std::size_t bytes, std::size_t row, std::size_t pitch);
/// A square matrix in C order, and its transposition: no gaps.
copy_layout transposed_layout(std::size_t bytes, std::size_t element);
/// A cube in C order, and in F order: no gaps.
copy_layout reversed_axes_layout(std::size_t bytes, std::size_t element);

/// Where the elements of a side lie, in C order in the payload, from its first element on.
image_layout image_of(side_layout const& side);

}  // namespace rocbench
