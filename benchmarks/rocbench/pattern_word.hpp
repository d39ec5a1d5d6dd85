// SPDX-License-Identifier: MIT
// The words that patterns are made of, on the host and in kernels alike.
#pragma once

#include <cstdint>

#include <roc/config.hpp>

namespace rocbench {

// Words of a sample are the multiples of an odd number, from a start of the sample's own: modulo
// 2^56 all are different.
inline constexpr std::uint64_t pattern_step = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t pattern_start_step = 0xBF58476D1CE4E5B9;

/// The number that a word is made of; that of the next word is pattern_step more.
ROCARRAY_HOST_DEVICE inline std::uint64_t pattern_number(std::uint64_t index, std::uint64_t sample) {
  return index * pattern_step + sample * pattern_start_step;
}

/// The low 56 bits of a number, spread over the low 7 bits of each byte.
ROCARRAY_HOST_DEVICE inline std::uint64_t spread_bits(std::uint64_t x) {
  x = (x & 0x000000000FFFFFFF) | ((x & 0x00FFFFFFF0000000) << 4);
  x = (x & 0x00003FFF00003FFF) | ((x & 0x0FFFC0000FFFC000) << 2);
  x = (x & 0x007F007F007F007F) | ((x & 0x3F803F803F803F80) << 1);
  return x | 0x8080808080808080;
}

/// Word `index` of a sample's pattern; the byte at the lowest address in the lowest bits.
ROCARRAY_HOST_DEVICE inline std::uint64_t pattern_word(std::uint64_t index, std::uint64_t sample) {
  return spread_bits(pattern_number(index, sample));
}

}  // namespace rocbench
