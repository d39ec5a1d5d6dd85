// SPDX-License-Identifier: MIT
// The layouts of a copy's operands, and the expected contents of a buffer, on the host and in
// kernels. Each byte is computed from its offset alone, by code that shares nothing with the copies
// that are measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <roc/config.hpp>
#include <roc/layout/shape.hpp>

namespace rocbench {

// The pattern of a sample has 64-bit words that are all different, and each differs from the same
// word of other samples. Every pattern byte has its top bit set and no poison byte has: a byte that
// was not written, or written to the wrong place, always differs from its expected value.
//
// The words of a sample are made of consecutive multiples of an odd number, starting at a number
// that depends on the sample. Modulo 2^56 these are all different.
inline constexpr std::uint64_t pattern_step = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t pattern_start_step = 0xBF58476D1CE4E5B9;

/// Returns the number that a word is made of; the next word's number is larger by pattern_step.
ROCARRAY_HOST_DEVICE inline std::uint64_t pattern_number(std::uint64_t index,
                                                         std::uint64_t sample) {
  return index * pattern_step + sample * pattern_start_step;
}

/// Returns the low 56 bits of a number spread over the low 7 bits of each byte; every top bit is
/// set.
ROCARRAY_HOST_DEVICE inline std::uint64_t spread_bits(std::uint64_t x) {
  x = (x & 0x000000000FFFFFFF) | ((x & 0x00FFFFFFF0000000) << 4);
  x = (x & 0x00003FFF00003FFF) | ((x & 0x0FFFC0000FFFC000) << 2);
  x = (x & 0x007F007F007F007F) | ((x & 0x3F803F803F803F80) << 1);
  return x | 0x8080808080808080;
}

/// Returns a word of the sample's pattern; the byte at the lowest address is in the lowest bits.
ROCARRAY_HOST_DEVICE inline std::uint64_t pattern_word(std::uint64_t index, std::uint64_t sample) {
  return spread_bits(pattern_number(index, sample));
}

/// Returns the value that fills destinations and guard bands before the sample.
constexpr std::uint8_t poison_byte(std::uint64_t sample) {
  return static_cast<std::uint8_t>((sample * 37 + 11) & 0x7F);
}

/// One level of an image_layout: `count` blocks at a fixed stride.
struct image_axis {
  std::uint64_t count = 1;           ///< 1: the axis is unused
  std::uint64_t stride = 1;          ///< bytes from one block to the next in memory
  std::uint64_t payload_stride = 0;  ///< bytes from one block to the next in the payload
  /// The block at position p in memory is block p * permutation % count of the payload.
  std::uint64_t permutation = 1;
  /// true: the last block in memory is the first of the payload. Then `permutation` is 1.
  bool reversed = false;
};

/// The positions of a payload's bytes in memory: axes by descending stride, the innermost over
/// contiguous runs.
struct image_layout {
  image_axis axes[3];
  std::uint64_t run;         ///< bytes of a contiguous run
  std::uint64_t before = 0;  ///< bytes between the guard band and the first run
};

/// The expected contents of an allocation: guard band, payload with its gaps, guard band.
struct image {
  image_layout layout;
  std::uint64_t guard;   ///< bytes of a guard band
  std::uint64_t span;    ///< bytes between the guard bands
  std::uint64_t sample;  ///< the sample whose pattern the payload is
  std::uint8_t poison;   ///< value of guard bands and gaps
  bool repeats = false;  ///< true: the payload repeats `value` instead of the pattern
  std::uint64_t value = 0;

  ROCARRAY_HOST_DEVICE std::uint64_t size() const { return span + 2 * guard; }
};

/// Returns the pattern of a sample alone, without guard bands.
constexpr image pattern_image(std::uint64_t bytes, std::uint64_t sample) {
  return {{{}, bytes}, 0, bytes, sample, poison_byte(sample)};
}

/// Consecutive bytes that are all payload or all poison.
struct segment {
  std::uint64_t length;
  std::uint64_t index;  ///< offset of the first byte in the payload
  bool is_payload;      ///< false: poison
};

/// Returns the segment that starts at an offset of the image.
ROCARRAY_HOST_DEVICE inline segment segment_at(image const& contents, std::uint64_t offset) {
  if (offset < contents.guard) return {contents.guard - offset, 0, false};
  std::uint64_t remainder = offset - contents.guard;
  if (remainder >= contents.span) return {~std::uint64_t{0}, 0, false};
  std::uint64_t const before = contents.layout.before;
  if (remainder < before) return {before - remainder, 0, false};
  remainder -= before;
  std::uint64_t end = contents.span - before;
  std::uint64_t index = 0;
  for (image_axis const& axis : contents.layout.axes) {
    if (axis.count == 1) continue;
    std::uint64_t const position = remainder / axis.stride;
    if (position >= axis.count) return {end - remainder, 0, false};
    remainder -= position * axis.stride;
    end = axis.stride;
    std::uint64_t const block = axis.reversed           ? axis.count - 1 - position
                                : axis.permutation == 1 ? position
                                                        : position * axis.permutation % axis.count;
    index += block * axis.payload_stride;
  }
  if (remainder >= contents.layout.run) return {end - remainder, 0, false};
  return {contents.layout.run - remainder, index + remainder, true};
}

/// Returns 8 bytes of the payload, the first in the lowest bits. Precondition: `index` is a
/// multiple of 8.
ROCARRAY_HOST_DEVICE inline std::uint64_t payload_word(image const& contents, std::uint64_t index) {
  return contents.repeats ? contents.value : pattern_word(index / 8, contents.sample);
}

ROCARRAY_HOST_DEVICE inline std::uint8_t payload_byte(image const& contents, std::uint64_t index) {
  return static_cast<std::uint8_t>(payload_word(contents, index) >> 8 * (index % 8));
}

/// Returns the byte at an offset of the image.
ROCARRAY_HOST_DEVICE inline std::uint8_t image_byte(image const& contents, std::uint64_t offset) {
  segment const bytes = segment_at(contents, offset);
  return bytes.is_payload ? payload_byte(contents, bytes.index) : contents.poison;
}

/// Returns the 8 bytes that start at an offset of the image; bytes beyond its end are poison.
ROCARRAY_HOST_DEVICE inline std::uint64_t image_word(image const& contents, std::uint64_t offset) {
  std::uint64_t const poison = contents.poison * std::uint64_t{0x0101010101010101};
  segment bytes = segment_at(contents, offset);
  if (bytes.length >= 8) {
    if (!bytes.is_payload) return poison;
    if (bytes.index % 8 == 0) return payload_word(contents, bytes.index);
  }
  std::uint64_t result = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    if (bytes.length == 0) bytes = segment_at(contents, offset + byte);
    std::uint64_t const value =
        bytes.is_payload ? payload_byte(contents, bytes.index) : contents.poison;
    result |= value << 8 * byte;
    --bytes.length;
    ++bytes.index;
  }
  return result;
}

// ---- Images in host memory ----

/// Calls f(begin, end) for `threads` disjoint ranges that cover [0, count), each in its own thread,
/// the first in the calling one. Blocks until all calls have returned. `f` must not throw.
template <class F>
void in_threads(std::size_t threads, std::size_t count, F const& f) {
  std::size_t const length = (count + threads - 1) / threads;
  std::vector<std::jthread> others;
  for (std::size_t begin = length; begin < count; begin += length)
    others.emplace_back([&f, begin, end = std::min(begin + length, count)] { f(begin, end); });
  f(std::size_t{0}, std::min(length, count));
}

/// As in_threads(), with up to 16 threads; the calling thread does everything if the work is below
/// 8 MiB.
/// @param unit_bytes bytes of work per index
template <class F>
void parallel_for(std::size_t count, std::size_t unit_bytes, F const& f) {
  constexpr std::size_t min_bytes_per_thread = std::size_t{4} << 20;
  constexpr unsigned max_threads = 16;
  std::size_t const cores = std::clamp(std::thread::hardware_concurrency(), 1u, max_threads);
  in_threads(std::clamp(count * unit_bytes / min_bytes_per_thread, std::size_t{1}, cores), count,
             f);
}

/// Writes the bytes [begin, end) of an image to `memory`, in the calling thread.
void write_image_range(std::byte* memory, image const& contents, std::uint64_t begin,
                       std::uint64_t end);

/// Returns the offset of the first byte in [begin, end) that differs from the image, or `end` if
/// none does. Works in the calling thread; `memory` is the start of the whole image.
std::uint64_t first_mismatch_in_range(std::byte const* memory, image const& contents,
                                      std::uint64_t begin, std::uint64_t end);

/// Writes a whole image of contents.size() bytes.
void write_image(std::byte* memory, image const& contents);

/// Returns the offset of the first byte that differs from the image, if there is one.
std::optional<std::uint64_t> find_first_mismatch(std::byte const* memory, image const& contents);

/// Fills memory with one value.
void fill_bytes(std::byte* memory, std::size_t bytes, std::uint8_t value);

// ---- Layouts of copies ----

/// The layout of one operand, which may be a part of an array. Strides count elements; that of a
/// reversed axis is negative.
struct operand_layout {
  std::size_t element = 1;  ///< bytes
  roc::shape<3> extents{};
  roc::strides<3> strides{};
  image_layout positions;  ///< of the elements in memory and in the payload, which is in C order
  std::size_t array_elements = 0;  ///< of the whole array; 0: it ends with the last element

  /// Returns the bytes of all elements.
  std::size_t payload_bytes() const;
  /// Returns the bytes of the array, or those up to the end of the operand's last element.
  std::size_t span_bytes() const;
  /// Returns the offset in bytes of the element with index 0, which is the last in memory along a
  /// reversed axis.
  std::size_t first_element_offset() const;
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
/// Where a box lies in an array in C order.
struct box_position {
  roc::shape<3> array;    ///< extents of the array
  roc::shape<3> begin{};  ///< index of the box's first element
};
/// Returns the copy of a box from one array to another. Precondition: the box is within both.
copy_layout box_layout(std::size_t element, roc::shape<3> const& extents,
                       box_position const& source, box_position const& destination);
/// Returns the copy of a box to an array that has no other elements. The copy reads the box
/// backward along `axis`. Preconditions: as box_layout().
copy_layout reversed_box_layout(std::size_t element, roc::shape<3> const& extents,
                                box_position const& source, std::size_t axis);
/// Returns the extents of as many planes of `rows` rows of `width` elements as fit in `count`
/// elements. If less than a plane fits, it has fewer rows; a single row may be shorter.
roc::shape<3> fitting_box(std::size_t count, std::size_t rows, std::size_t width);
/// Returns the copy of the largest square matrix that fits in `bytes` from C order to F order.
copy_layout transposed_layout(std::size_t bytes, std::size_t element);
/// Returns the copy of the largest square matrix that fits in `bytes`, read backward along `axis`
/// (0: rows, 1: columns), to C order.
copy_layout reversed_matrix_layout(std::size_t bytes, std::size_t element, std::size_t axis);
/// Returns the copy of the largest cube that fits in `bytes` from C order to F order.
copy_layout reversed_axes_layout(std::size_t bytes, std::size_t element);
/// Returns the copy of the matrices of the largest cube that fits in `bytes` from C order to F
/// order.
copy_layout swapped_axes_layout(std::size_t bytes, std::size_t element);

}  // namespace rocbench
