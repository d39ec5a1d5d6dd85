// SPDX-License-Identifier: MIT
#include "copy_layout.hpp"

#include <algorithm>
#include <cmath>

#include <roc/layout/index.hpp>

namespace rocbench {
namespace {

constexpr std::size_t max_rows_per_plane = 64;

std::ptrdiff_t as_signed(std::size_t value) { return static_cast<std::ptrdiff_t>(value); }

copy_layout same_layout_on_both_sides(roc::shape<3> const& extents, std::size_t row_step,
                                      std::size_t plane_step) {
  operand_layout const operand{1, extents, {as_signed(plane_step), as_signed(row_step), 1}};
  return {operand, operand};
}

// Returns the largest n, at least 1, with n^power <= count.
std::size_t largest_root(std::size_t count, unsigned power) {
  auto const estimate = std::pow(static_cast<double>(count), 1.0 / power);
  auto root = static_cast<std::size_t>(estimate) + 1;
  auto const fits = [&](std::size_t n) {
    return std::pow(static_cast<double>(n), power) <= static_cast<double>(count);
  };
  while (root > 1 && !fits(root)) --root;
  return root;
}

}  // namespace

std::size_t operand_layout::payload_bytes() const {
  return extents[0] * extents[1] * extents[2] * element;
}

std::size_t operand_layout::span_bytes() const {
  std::size_t last_element = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    last_element += (extents[axis] - 1) * static_cast<std::size_t>(strides[axis]);
  }
  return (last_element + 1) * element;
}

bool operand_layout::is_contiguous() const {
  return roc::layout::is_c_contiguous(extents, strides);
}

copy_layout contiguous_layout(std::size_t bytes) {
  return same_layout_on_both_sides({1, 1, bytes}, bytes, bytes);
}

copy_layout rows_layout(std::size_t bytes, std::size_t row, std::size_t pitch) {
  std::size_t const width = std::min(row, bytes);
  std::size_t const rows = bytes / width;
  return same_layout_on_both_sides({1, rows, width}, pitch, rows * pitch);
}

copy_layout planes_layout(std::size_t bytes, std::size_t row, std::size_t pitch) {
  std::size_t const width = std::min(row, bytes);
  std::size_t const rows = std::min(bytes / width, max_rows_per_plane);
  std::size_t const planes = bytes / width / rows;
  return same_layout_on_both_sides({planes, rows, width}, pitch, (rows + 1) * pitch);
}

copy_layout transposed_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = largest_root(bytes / element, 2);
  std::ptrdiff_t const pitch = as_signed(n);
  return {{element, {1, n, n}, {pitch * pitch, pitch, 1}},
          {element, {1, n, n}, {pitch * pitch, 1, pitch}}};
}

copy_layout reversed_axes_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = largest_root(bytes / element, 3);
  std::ptrdiff_t const pitch = as_signed(n);
  return {{element, {n, n, n}, {pitch * pitch, pitch, 1}},
          {element, {n, n, n}, {1, pitch, pitch * pitch}}};
}

image_layout image_layout_of(operand_layout const& operand) {
  std::size_t const payload_strides[3] = {operand.extents[1] * operand.extents[2],
                                          operand.extents[2], 1};
  std::size_t axes[3] = {0, 1, 2};
  std::ranges::stable_sort(
      axes, [&](std::size_t a, std::size_t b) { return operand.strides[a] > operand.strides[b]; });
  image_layout result{{}, operand.element};
  for (std::size_t i = 3; i-- != 0;) {
    std::size_t const axis = axes[i];
    std::size_t const stride = static_cast<std::size_t>(operand.strides[axis]) * operand.element;
    std::size_t const payload_stride = payload_strides[axis] * operand.element;
    // An axis that continues the run in memory and in the payload extends it.
    bool const extends_run = stride == result.run && payload_stride == result.run;
    if (operand.extents[axis] == 1) continue;
    if (extends_run) {
      result.run *= operand.extents[axis];
    } else {
      result.axes[i] = {operand.extents[axis], stride, payload_stride};
    }
  }
  return result;
}

}  // namespace rocbench
