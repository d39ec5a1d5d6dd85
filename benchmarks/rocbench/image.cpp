// SPDX-License-Identifier: MIT
#include "image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <roc/layout/index.hpp>

namespace rocbench {
namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);
constexpr std::uint64_t page = 4096;

// Writes consecutive payload: single bytes up to the next multiple of 8, whole words, then single
// bytes.
void write_payload(std::byte* memory, image const& contents, segment const& run) {
  auto const write_bytes = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      memory[i] = std::byte{payload_byte(contents, run.index + i)};
  };
  std::uint64_t const head = std::min((word - run.index % word) % word, run.length);
  std::uint64_t const end = run.length - (run.length - head) % word;
  write_bytes(0, head);
  // The numbers are computed by addition, which compilers vectorize.
  std::uint64_t number = pattern_number((run.index + head) / word, contents.sample);
  bool const repeats = contents.repeats;
  std::uint64_t const repeated = contents.value;
  for (std::uint64_t i = head; i < end; i += word, number += pattern_step) {
    std::uint64_t const value = repeats ? repeated : spread_bits(number);
    std::memcpy(memory + i, &value, word);
  }
  write_bytes(end, run.length);
}

// Calls f(begin, end) for ranges that cover [0, bytes) and start at multiples of the page size, in
// parallel.
template <class F>
void parallel_for_pages(std::uint64_t bytes, F const& f) {
  parallel_for((bytes + page - 1) / page, page, [&](std::uint64_t begin, std::uint64_t end) {
    f(begin * page, std::min(end * page, bytes));
  });
}

constexpr std::size_t max_rows_per_plane = 64;

std::ptrdiff_t as_signed(std::size_t value) { return static_cast<std::ptrdiff_t>(value); }

copy_layout same_layout_on_both_sides(roc::shape<3> const& extents, std::size_t row_step,
                                      std::size_t plane_step) {
  auto const& [planes, rows, width] = extents;
  image_layout const positions{{{planes, plane_step, rows * width}, {rows, row_step, width}},
                               width};
  operand_layout const operand{
      1, extents, {as_signed(plane_step), as_signed(row_step), 1}, positions};
  return {operand, operand};
}

// Returns the largest n, at least 1, with n^power <= count.
std::size_t largest_root(std::size_t count, unsigned power) {
  std::size_t root = 1;
  while (std::pow(static_cast<double>(root + 1), power) <= static_cast<double>(count)) ++root;
  return root;
}

}  // namespace

void write_image_range(std::byte* memory, image const& contents, std::uint64_t begin,
                       std::uint64_t end) {
  for (std::uint64_t offset = begin; offset < end;) {
    segment part = segment_at(contents, offset);
    part.length = std::min(part.length, end - offset);
    std::byte* const target = memory + (offset - begin);
    part.is_payload ? write_payload(target, contents, part)
                    : static_cast<void>(std::memset(target, contents.poison, part.length));
    offset += part.length;
  }
}

std::uint64_t first_mismatch_in_range(std::byte const* memory, image const& contents,
                                      std::uint64_t begin, std::uint64_t end) {
  std::byte expected[page];
  for (std::uint64_t offset = begin; offset < end; offset += page) {
    std::uint64_t const bytes = std::min(page, end - offset);
    write_image_range(expected, contents, offset, offset + bytes);
    if (std::memcmp(memory + offset, expected, bytes) == 0) continue;
    auto const* const found = std::mismatch(expected, expected + bytes, memory + offset).first;
    return offset + static_cast<std::uint64_t>(found - expected);
  }
  return end;
}

void write_image(std::byte* memory, image const& contents) {
  parallel_for_pages(contents.size(), [&](std::uint64_t begin, std::uint64_t end) {
    write_image_range(memory + begin, contents, begin, end);
  });
}

std::optional<std::uint64_t> find_first_mismatch(std::byte const* memory, image const& contents) {
  std::mutex mutex;
  std::optional<std::uint64_t> first;
  parallel_for_pages(contents.size(), [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t const offset = first_mismatch_in_range(memory, contents, begin, end);
    if (offset == end) return;
    std::lock_guard const lock(mutex);
    first = std::min(offset, first.value_or(offset));
  });
  return first;
}

void fill_bytes(std::byte* memory, std::size_t bytes, std::uint8_t value) {
  parallel_for_pages(bytes, [&](std::uint64_t begin, std::uint64_t end) {
    std::memset(memory + begin, value, end - begin);
  });
}

std::size_t operand_layout::payload_bytes() const {
  return extents[0] * extents[1] * extents[2] * element;
}

std::size_t operand_layout::span_bytes() const {
  if (array_elements != 0) return array_elements * element;
  std::size_t last_element = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    last_element += (extents[axis] - 1) * static_cast<std::size_t>(std::abs(strides[axis]));
  return (last_element + 1) * element;
}

std::size_t operand_layout::first_element_offset() const {
  std::size_t elements = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (strides[axis] < 0)
      elements += (extents[axis] - 1) * static_cast<std::size_t>(-strides[axis]);
  }
  return positions.before + elements * element;
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

copy_layout box_layout(std::size_t element, roc::shape<3> const& extents,
                       box_position const& source, box_position const& destination) {
  auto const operand = [&](box_position const& box) {
    std::size_t const pitch = box.array[2];
    std::size_t const plane = box.array[1] * pitch;
    std::size_t const first = box.begin[0] * plane + box.begin[1] * pitch + box.begin[2];
    std::size_t const row_bytes = extents[2] * element;
    image_layout const positions{{{extents[0], plane * element, extents[1] * row_bytes},
                                  {extents[1], pitch * element, row_bytes}},
                                 row_bytes,
                                 first * element};
    return operand_layout{
        element, extents, {as_signed(plane), as_signed(pitch), 1}, positions, box.array[0] * plane};
  };
  return {operand(source), operand(destination)};
}

copy_layout reversed_box_layout(std::size_t element, roc::shape<3> const& extents,
                                box_position const& source, std::size_t axis) {
  copy_layout result = box_layout(element, extents, source, {extents});
  result.source.strides[axis] = -result.source.strides[axis];
  image_layout& positions = result.source.positions;
  if (axis == 2) {  // the runs of the box are reversed: each element is a run
    positions.axes[2] = {extents[2], element, element};
    positions.run = element;
  }
  positions.axes[axis].reversed = true;
  return result;
}

roc::shape<3> fitting_box(std::size_t count, std::size_t rows, std::size_t width) {
  std::size_t const columns = std::clamp(count, std::size_t{1}, width);
  std::size_t const all_rows = std::max(count / columns, std::size_t{1});
  std::size_t const plane_rows = std::min(all_rows, rows);
  return {all_rows / plane_rows, plane_rows, columns};
}

copy_layout transposed_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = largest_root(bytes / element, 2);
  std::size_t const row = n * element;
  std::ptrdiff_t const pitch = as_signed(n);
  return {{element, {1, n, n}, {pitch * pitch, pitch, 1}, {{}, n * row}},
          {element,
           {1, n, n},
           {pitch * pitch, 1, pitch},
           {{{n, row, element}, {n, element, row}}, element}}};
}

copy_layout reversed_matrix_layout(std::size_t bytes, std::size_t element, std::size_t axis) {
  std::size_t const n = largest_root(bytes / element, 2);
  roc::shape<3> const extents{1, n, n};
  return reversed_box_layout(element, extents, {extents}, axis + 1);
}

copy_layout reversed_axes_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = largest_root(bytes / element, 3);
  std::size_t const row = n * element;
  std::size_t const plane = n * row;
  std::ptrdiff_t const pitch = as_signed(n);
  return {{element, {n, n, n}, {pitch * pitch, pitch, 1}, {{}, n * plane}},
          {element,
           {n, n, n},
           {1, pitch, pitch * pitch},
           {{{n, plane, element}, {n, row, row}, {n, element, plane}}, element}}};
}

copy_layout swapped_axes_layout(std::size_t bytes, std::size_t element) {
  std::size_t const n = largest_root(bytes / element, 3);
  std::size_t const row = n * element;
  std::size_t const plane = n * row;
  std::ptrdiff_t const pitch = as_signed(n);
  return {{element, {n, n, n}, {pitch * pitch, pitch, 1}, {{}, n * plane}},
          {element,
           {n, n, n},
           {pitch * pitch, 1, pitch},
           {{{n, plane, plane}, {n, row, element}, {n, element, row}}, element}}};
}

}  // namespace rocbench
