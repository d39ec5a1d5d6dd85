// SPDX-License-Identifier: MIT
#include "copy_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <roc/layout/index.hpp>

#include "pieces.hpp"

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

// Calls f(offset in the image, offset in the elements, length) for runs of bytes that are
// contiguous on both, lines of the innermost axis shared out to threads.
template <class F>
void for_each_run(side_layout const& side, F const& f) {
  std::size_t const lines = side.extents[0] * side.extents[1];
  std::size_t const length = side.extents[2];
  auto const place = [&](std::size_t axis, std::size_t index) {
    return index * static_cast<std::size_t>(side.strides[axis]) * side.element;
  };
  in_pieces(lines, length * side.element, [&](std::size_t begin, std::size_t end) {
    for (std::size_t line = begin; line < end; ++line) {
      std::size_t const at = place(0, line / side.extents[1]) + place(1, line % side.extents[1]);
      std::size_t const from = line * length * side.element;
      if (side.strides[2] == 1) {
        f(at, from, length * side.element);
        continue;
      }
      for (std::size_t i = 0; i < length; ++i)
        f(at + place(2, i), from + i * side.element, side.element);
    }
  });
}

// Elements have few sizes: a copy of a known size is one instruction.
void copy_run(std::byte* to, std::byte const* from, std::size_t bytes) {
  switch (bytes) {
    case 1: *to = *from; break;
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, bytes);
  }
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

void scatter(std::span<std::byte const> elements, side_layout const& side, std::byte* image) {
  for_each_run(side, [&](std::size_t at, std::size_t from, std::size_t bytes) {
    copy_run(image + at, elements.data() + from, bytes);
  });
}

void gather(std::byte* image, side_layout const& side, std::span<std::byte> elements,
            std::byte instead) {
  int const value = std::to_integer<int>(instead);
  for_each_run(side, [&](std::size_t at, std::size_t to, std::size_t bytes) {
    copy_run(elements.data() + to, image + at, bytes);
    std::memset(image + at, value, bytes);
  });
}

}  // namespace rocbench
