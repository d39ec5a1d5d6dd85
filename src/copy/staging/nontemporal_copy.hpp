// SPDX-License-Identifier: MIT
// Memory written past the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace roc::transfer {

/// From so many bytes on who reads them does not find them in his caches anyway, while a line that
/// is written through the caches is read first: half as much again for the memory to do.
inline constexpr std::size_t min_nontemporal_unpack_bytes = std::size_t{128} << 20;
/// Up to so many bytes, what several cores have packed lies in the caches of each when the copy
/// engine comes for it, which gets it out of there at less than half of the link's rate (H100 and
/// 16 cores: 8 MiB in 370 us, instead of 160). More than that has left them by then.
inline constexpr std::size_t max_nontemporal_pack_bytes = std::size_t{64} << 20;
/// Runs shorter than that are parts of lines too often.
inline constexpr std::size_t min_nontemporal_run_bytes = 4096;

/// memcpy, for one run. Where the processor has no such stores, it is memcpy.
inline void nontemporal_copy(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  constexpr std::size_t in_line = line / sizeof(__m128i);
  std::size_t const head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (bytes > head + line) {
    std::memcpy(to, from, head);
    std::size_t at = head;
    for (; at + line <= bytes; at += line) {
      auto const* const source = reinterpret_cast<__m128i const*>(from + at);
      auto* const destination = reinterpret_cast<__m128i*>(to + at);
      __m128i values[in_line];
      for (std::size_t i = 0; i < in_line; ++i) values[i] = _mm_loadu_si128(source + i);
      for (std::size_t i = 0; i < in_line; ++i) _mm_stream_si128(destination + i, values[i]);
    }
    to += at;
    from += at;
    bytes -= at;
  }
#endif
  std::memcpy(to, from, bytes);
}

/// Behind the last of them, before another thread is told that they are there.
inline void nontemporal_fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace roc::transfer
