// SPDX-License-Identifier: MIT
// The layouts of a copy's source and destination.
#pragma once

#include <cstddef>

#include <roc/layout/shape.hpp>

#include "image.hpp"

namespace rocbench {

/// The layout of one operand. Strides count elements and are not negative.
struct operand_layout {
  std::size_t element = 1;  ///< bytes: 1, 2, 4, 8 or 16
  roc::shape<3> extents{};
  roc::strides<3> strides{};

  /// Returns the bytes of all elements.
  std::size_t payload_bytes() const;
  /// Returns the bytes from the first element to the end of the last, including gaps.
  std::size_t span_bytes() const;
  bool is_contiguous() const;
};

struct copy_layout {
  operand_layout source;
  operand_layout destination;
};

/// Returns the layout of `bytes` contiguous bytes.
copy_layout contiguous_layout(std::size_t bytes);
/// Returns as many pitched rows of `row` bytes as fit in `bytes`, or one shorter row if none fits.
copy_layout rows_layout(std::size_t bytes, std::size_t row, std::size_t pitch);
/// Returns planes of up to 64 pitched rows. A gap of one pitch follows each plane.
copy_layout planes_layout(std::size_t bytes, std::size_t row, std::size_t pitch);
/// Returns the copy of the largest square matrix that fits in `bytes` from C order to F order.
copy_layout transposed_layout(std::size_t bytes, std::size_t element);
/// Returns the copy of the largest cube that fits in `bytes` from C order to F order.
copy_layout reversed_axes_layout(std::size_t bytes, std::size_t element);

/// Returns the positions of an operand's elements in memory and in the payload, which contains the
/// elements in C order.
image_layout image_layout_of(operand_layout const& operand);

}  // namespace rocbench
