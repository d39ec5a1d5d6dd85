// SPDX-License-Identifier: MIT
// Operations on dwords (4 bytes) that hold several words of 1 or 2 bytes.
#pragma once

#include <cstdint>

#include <roc/config.hpp>
#include <roc/native/hip.hpp>

#if ROCARRAY_KERNEL_HOST_STUB
#include <roc/kernel.hpp>
#endif

namespace roc::kernels {

/// Returns the dword that begins `bytes` bytes (0 to 3) after the beginning of `dword`, if `next`
/// follows it in memory.
ROCARRAY_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t dword, std::uint32_t next,
                                                  unsigned bytes) {
  return static_cast<std::uint32_t>((std::uint64_t{next} << 32 | dword) >> (8 * bytes));
}

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

/// Returns the argument of the next thread within a group of 32 threads. All 32 must call it. In
/// the last thread the result is its own argument.
__device__ inline std::uint32_t from_next_lane(std::uint32_t dword) {
#if ROCARRAY_PLATFORM_AMD
  return __shfl_down(dword, 1, 32);
#else
  return __shfl_down_sync(0xffffffffu, dword, 1);
#endif
}

/// Transposes a matrix of 4 by 4 bytes, one row per dword.
__device__ inline void transpose(std::uint32_t (&rows)[4]) {
  std::uint32_t const low_01 = __byte_perm(rows[0], rows[1], 0x5140);
  std::uint32_t const high_01 = __byte_perm(rows[0], rows[1], 0x7362);
  std::uint32_t const low_23 = __byte_perm(rows[2], rows[3], 0x5140);
  std::uint32_t const high_23 = __byte_perm(rows[2], rows[3], 0x7362);
  rows[0] = __byte_perm(low_01, low_23, 0x5410);
  rows[1] = __byte_perm(low_01, low_23, 0x7632);
  rows[2] = __byte_perm(high_01, high_23, 0x5410);
  rows[3] = __byte_perm(high_01, high_23, 0x7632);
}
/// Transposes a matrix of 2 by 2 words of two bytes, one row per dword.
__device__ inline void transpose(std::uint32_t (&rows)[2]) {
  std::uint32_t const first = rows[0];
  rows[0] = __byte_perm(first, rows[1], 0x5410);
  rows[1] = __byte_perm(first, rows[1], 0x7632);
}

#endif

}  // namespace roc::kernels
