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
#if defined(__AMDGCN__)
  // One instruction, which hipcc does not find: it shifts pairs of registers.
  return __builtin_amdgcn_alignbyte(next, dword, bytes);
#else
  return static_cast<std::uint32_t>((std::uint64_t{next} << 32 | dword) >> (8 * bytes));
#endif
}

/// Returns four bytes of two dwords: byte i is the one whose number, 0 to 7, is the hexadecimal
/// digit i of Digits. (CUDA, HIP: `__byte_perm`)
template <unsigned Digits>
ROCARRAY_HOST_DEVICE std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high) {
#if defined(__AMDGCN__)
  // One instruction. HIP's __byte_perm is several: it accesses the bytes of an array.
  constexpr unsigned numbers =
      (Digits & 0xf) | (Digits & 0xf0) << 4 | (Digits & 0xf00) << 8 | (Digits & 0xf000) << 12;
  return __builtin_amdgcn_perm(high, low, numbers);
#elif defined(__CUDA_ARCH__)
  return __byte_perm(low, high, Digits);
#else
  std::uint64_t const bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned const number = Digits >> (4 * i) & 0xf;
    result |= static_cast<std::uint32_t>(bytes >> (8 * number) & 0xff) << (8 * i);
  }
  return result;
#endif
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
  std::uint32_t const low_01 = select_bytes<0x5140>(rows[0], rows[1]);
  std::uint32_t const high_01 = select_bytes<0x7362>(rows[0], rows[1]);
  std::uint32_t const low_23 = select_bytes<0x5140>(rows[2], rows[3]);
  std::uint32_t const high_23 = select_bytes<0x7362>(rows[2], rows[3]);
  rows[0] = select_bytes<0x5410>(low_01, low_23);
  rows[1] = select_bytes<0x7632>(low_01, low_23);
  rows[2] = select_bytes<0x5410>(high_01, high_23);
  rows[3] = select_bytes<0x7632>(high_01, high_23);
}
/// Transposes a matrix of 2 by 2 words of two bytes, one row per dword.
__device__ inline void transpose(std::uint32_t (&rows)[2]) {
  std::uint32_t const first = rows[0];
  rows[0] = select_bytes<0x5410>(first, rows[1]);
  rows[1] = select_bytes<0x7632>(first, rows[1]);
}

#endif

}  // namespace roc::kernels
