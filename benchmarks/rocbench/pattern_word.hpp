// SPDX-License-Identifier: MIT
// The 64-bit words of a pattern, on the host and in kernels.
#pragma once

#include <cstdint>

#include <roc/config.hpp>

namespace rocbench {

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

}  // namespace rocbench
