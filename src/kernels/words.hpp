// SPDX-License-Identifier: MIT
// Small units by words of 4 bytes.
#pragma once

#include <cstdint>

#include <roc/config.hpp>
#include <roc/native/hip.hpp>

namespace roc::kernels {

/// The word that begins `bytes` bytes behind the beginning of `word`, which `next` follows.
ROCARRAY_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t word, std::uint32_t next,
                                             unsigned bytes) {
  return static_cast<std::uint32_t>((std::uint64_t{next} << 32 | word) >> (8 * bytes));
}

#if defined(__CUDACC__) || defined(__HIP__)

/// That of the next thread of 32, all of which take part.
__device__ inline std::uint32_t of_next_lane(std::uint32_t word) {
#if ROCARRAY_PLATFORM_AMD
  return __shfl_down(word, 1, 32);
#else
  return __shfl_down_sync(0xffffffffu, word, 1);
#endif
}

/// Rows of four bytes, to columns.
__device__ inline void transpose(std::uint32_t (&words)[4]) {
  std::uint32_t const low = __byte_perm(words[0], words[1], 0x5140);
  std::uint32_t const high = __byte_perm(words[0], words[1], 0x7362);
  std::uint32_t const other_low = __byte_perm(words[2], words[3], 0x5140);
  std::uint32_t const other_high = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(low, other_low, 0x5410);
  words[1] = __byte_perm(low, other_low, 0x7632);
  words[2] = __byte_perm(high, other_high, 0x5410);
  words[3] = __byte_perm(high, other_high, 0x7632);
}
/// Rows of two units of two bytes, to columns.
__device__ inline void transpose(std::uint32_t (&words)[2]) {
  std::uint32_t const first = words[0];
  words[0] = __byte_perm(first, words[1], 0x5410);
  words[1] = __byte_perm(first, words[1], 0x7632);
}

#endif

}  // namespace roc::kernels
