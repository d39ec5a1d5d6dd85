// SPDX-License-Identifier: MIT
// The expected contents of a buffer, on the host and in kernels. Each byte is computed from its
// offset alone, by code that shares nothing with the copies that are measured.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "pattern_word.hpp"

namespace rocbench {

/// One level of an image_layout: `count` blocks at a fixed stride.
struct image_axis {
  std::uint64_t count = 1;           ///< 1: the axis is unused
  std::uint64_t stride = 1;          ///< bytes from one block to the next in memory
  std::uint64_t payload_stride = 0;  ///< bytes from one block to the next in the payload
  /// The block at position p in memory is block p * permutation % count of the payload.
  std::uint64_t permutation = 1;
};

/// The positions of a payload's bytes in memory: axes by descending stride, the innermost over
/// contiguous runs.
struct image_layout {
  image_axis axes[3];
  std::uint64_t run;  ///< bytes of a contiguous run
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
  std::uint64_t end = contents.span;
  std::uint64_t index = 0;
  for (image_axis const& axis : contents.layout.axes) {
    if (axis.count == 1) continue;
    std::uint64_t const position = remainder / axis.stride;
    if (position >= axis.count) return {end - remainder, 0, false};
    remainder -= position * axis.stride;
    end = axis.stride;
    std::uint64_t const block =
        axis.permutation == 1 ? position : position * axis.permutation % axis.count;
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

}  // namespace rocbench
