// SPDX-License-Identifier: MIT
// What every byte of a buffer has to be while a case is measured, on the host and in kernels alike.
// Nothing here knows how a copy works: a place is computed from the address alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "pattern_word.hpp"

namespace rocbench {

/// One level of places that lie at a distance from each other. Bytes, but for the counts.
struct image_axis {
  std::uint64_t count = 1;   ///< 1: not there
  std::uint64_t step = 1;    ///< from one place to the next, in memory
  std::uint64_t weight = 0;  ///< the same in the payload
  std::uint64_t turn = 1;    ///< place p holds part p * turn modulo count: not always in order
};

/// Where a payload lies: levels by descending step, and in the innermost a run without gaps.
struct image_layout {
  image_axis axes[3];
  std::uint64_t run;  ///< bytes
};

/// A whole buffer: a guard band, the span of the payload with its gaps, another guard band.
struct image {
  image_layout where;
  std::uint64_t guard;   ///< bytes of a band
  std::uint64_t span;    ///< bytes between the bands
  std::uint64_t sample;  ///< whose pattern the payload is
  std::uint8_t poison;   ///< what bands and gaps are
  bool repeats = false;  ///< the payload is `value` again and again instead
  std::uint64_t value = 0;

  ROCARRAY_HOST_DEVICE std::uint64_t whole() const { return span + 2 * guard; }
};

/// Bytes of one kind that follow each other.
struct segment {
  std::uint64_t length;  ///< up to where the kind may change
  std::uint64_t index;   ///< of the first in the payload
  bool is_payload;       ///< else poison
};

/// What begins at an offset of the whole.
ROCARRAY_HOST_DEVICE inline segment segment_at(image const& of, std::uint64_t at) {
  if (at < of.guard) return {of.guard - at, 0, false};
  std::uint64_t offset = at - of.guard;
  if (offset >= of.span) return {~std::uint64_t{0}, 0, false};
  std::uint64_t end = of.span;
  std::uint64_t index = 0;
  for (image_axis const& axis : of.where.axes) {
    if (axis.count == 1) continue;
    std::uint64_t const place = offset / axis.step;
    if (place >= axis.count) return {end - offset, 0, false};
    offset -= place * axis.step;
    end = axis.step;
    index += (axis.turn == 1 ? place : place * axis.turn % axis.count) * axis.weight;
  }
  if (offset >= of.where.run) return {end - offset, 0, false};
  return {of.where.run - offset, index + offset, true};
}

/// The 8 bytes of a payload that begin at a multiple of 8, the first in the lowest bits.
ROCARRAY_HOST_DEVICE inline std::uint64_t payload_word(image const& of, std::uint64_t index) {
  return of.repeats ? of.value : pattern_word(index / 8, of.sample);
}

ROCARRAY_HOST_DEVICE inline std::uint8_t payload_byte(image const& of, std::uint64_t index) {
  return static_cast<std::uint8_t>(payload_word(of, index) >> 8 * (index % 8));
}

/// The byte at an offset of the whole.
ROCARRAY_HOST_DEVICE inline std::uint8_t image_byte(image const& of, std::uint64_t at) {
  segment const here = segment_at(of, at);
  return here.is_payload ? payload_byte(of, here.index) : of.poison;
}

/// The 8 bytes from an offset on; poison where that is beyond the end.
ROCARRAY_HOST_DEVICE inline std::uint64_t image_word(image const& of, std::uint64_t at) {
  std::uint64_t const poison = of.poison * std::uint64_t{0x0101010101010101};
  segment here = segment_at(of, at);
  if (here.length >= 8) {
    if (!here.is_payload) return poison;
    if (here.index % 8 == 0) return payload_word(of, here.index);
  }
  std::uint64_t result = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    if (here.length == 0) here = segment_at(of, at + byte);
    std::uint64_t const value = here.is_payload ? payload_byte(of, here.index) : of.poison;
    result |= value << 8 * byte;
    --here.length;
    ++here.index;
  }
  return result;
}

}  // namespace rocbench
