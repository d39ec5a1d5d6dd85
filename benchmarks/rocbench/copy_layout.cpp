// SPDX-License-Identifier: MIT
#include "copy_layout.hpp"

#include <algorithm>
#include <cmath>

#include <roc/layout/index.hpp>

namespace rocbench {
namespace {

constexpr std::size_t rows_of_a_plane = 64;

std::ptrdiff_t as_signed(std::size_t value) { return static_cast<std::ptrdiff_t>(value); }

copy_layout same_on_both(roc::shape<3> const& extents, std::size_t row_step,
                         std::size_t plane_step) {
  side_layout const side{1, extents, {as_signed(plane_step), as_signed(row_step), 1}};
  return {side, side};
}

// The largest number whose power still fits.
std::size_t root_of(std::size_t count, unsigned power) {
  auto const first = std::pow(static_cast<double>(count), 1.0 / power);
  auto root = static_cast<std::size_t>(first) + 1;
  auto const fits = [&](std::size_t n) {
    return std::pow(static_cast<double>(n), power) <= static_cast<double>(count);
  };
  while (root > 1 && !fits(root)) --root;
  return root;
}

}  // namespace

std::size_t side_layout::payload() const { return extents[0] * extents[1] * extents[2] * element; }

std::size_t side_layout::span() const {
  std::size_t last = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    last += (extents[axis] - 1) * static_cast<std::size_t>(strides[axis]);
  }
  return (last + 1) * element;
}

bool side_layout::is_contiguous() const { return roc::layout::is_c_contiguous(extents, strides); }

copy_layout contiguous_layout(std::size_t bytes) {
  return same_on_both({1, 1, bytes}, bytes, bytes);
}

copy_layout rows_layout(std::size_t bytes, std::size_t row, std::size_t pitch) {
  std::size_t const width = std::min(row, bytes);
  std::size_t const rows = bytes / width;
  return same_on_both({1, rows, width}, pitch, rows * pitch);
}

copy_layout planes_layout(std::size_t bytes, std::size_t row, std::size_t pitch) {
  std::size_t const width = std::min(row, bytes);
  std::size_t const rows = std::min(bytes / width, rows_of_a_plane);
  std::size_t const planes = bytes / width / rows;
  return same_on_both({planes, rows, width}, pitch, (rows + 1) * pitch);
}

copy_layout transposed_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = root_of(bytes / element, 2);
  std::ptrdiff_t const step = as_signed(n);
  return {{element, {1, n, n}, {step * step, step, 1}},
          {element, {1, n, n}, {step * step, 1, step}}};
}

copy_layout reversed_axes_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = root_of(bytes / element, 3);
  std::ptrdiff_t const step = as_signed(n);
  return {{element, {n, n, n}, {step * step, step, 1}},
          {element, {n, n, n}, {1, step, step * step}}};
}

image_layout image_of(side_layout const& side) {
  std::size_t const weights[3] = {side.extents[1] * side.extents[2], side.extents[2], 1};
  std::size_t axes[3] = {0, 1, 2};
  std::ranges::stable_sort(
      axes, [&](std::size_t a, std::size_t b) { return side.strides[a] > side.strides[b]; });
  image_layout result{{}, side.element};
  for (std::size_t i = 3; i-- != 0;) {
    std::size_t const axis = axes[i];
    std::size_t const step = static_cast<std::size_t>(side.strides[axis]) * side.element;
    std::size_t const weight = weights[axis] * side.element;
    // What follows without a gap, in memory and in the payload, is one run.
    bool const follows = step == result.run && weight == result.run;
    if (side.extents[axis] == 1) continue;
    if (follows) {
      result.run *= side.extents[axis];
    } else {
      result.axes[i] = {side.extents[axis], step, weight};
    }
  }
  return result;
}

}  // namespace rocbench
