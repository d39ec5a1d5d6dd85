// SPDX-License-Identifier: MIT
// memcpy with non-temporal stores, which bypass the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "layout/canonical_layout.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace roc::transfer {

/// A copy is unpacked with non-temporal stores if it and the copies that are pending in the other
/// direction have at least this many bytes in total. The stores save the read for ownership: a
/// third of the memory traffic. In return, less of the data is in cache when the program reads it.
/// On an H100, 64 MiB to the host ran at 45 GB/s without them and at 48 with them; on an H200,
/// tiles of 8 MiB in both directions at 48 and 58.
inline constexpr std::size_t min_nontemporal_unpack_bytes = std::size_t{32} << 20;

/// The largest copy that is packed with non-temporal stores. Up to this size, normally stored data
/// would still be in the caches of several cores when the copy engine reads it, which then reaches
/// less than half of the link's rate (H100 and 16 cores: 8 MiB in 370 us instead of 160 us). Data
/// of larger copies has left the caches by then.
inline constexpr std::size_t max_nontemporal_pack_bytes = std::size_t{64} << 20;

/// The largest copy that is packed with non-temporal stores while min_busy_bytes are pending in the
/// other direction. They need the host's memory too, and a non-temporal store takes more of its
/// bandwidth than a store to a cache from which the engine reads. On an H200, tiles of 32 MiB in
/// both directions ran at 59 GB/s with non-temporal stores and at 70 without, but tiles of 8 MiB at
/// 58 and 47.
inline constexpr std::size_t max_nontemporal_pack_bytes_if_busy = std::size_t{16} << 20;
/// The least bytes in the other direction with which max_nontemporal_pack_bytes_if_busy applies.
inline constexpr std::size_t min_busy_bytes = std::size_t{32} << 20;

/// Returns true if a copy is packed with non-temporal stores.
/// @param opposite_bytes those pending in the other direction: see min_busy_bytes.
inline bool is_packed_nontemporally(std::size_t bytes, std::size_t opposite_bytes) noexcept {
  bool const is_busy = opposite_bytes >= min_busy_bytes;
  return bytes <= (is_busy ? max_nontemporal_pack_bytes_if_busy : max_nontemporal_pack_bytes);
}

/// Returns true if a copy is unpacked with non-temporal stores.
/// @param opposite_bytes those pending in the other direction: see min_busy_bytes.
inline bool is_unpacked_nontemporally(std::size_t bytes, std::size_t opposite_bytes) noexcept {
  return bytes + opposite_bytes >= min_nontemporal_unpack_bytes;
}

#if defined(__x86_64__)
inline constexpr bool has_nontemporal_stores = true;
#else
inline constexpr bool has_nontemporal_stores = false;
#endif
inline constexpr std::size_t cache_line_bytes = 64;

/// The shortest run that is packed with non-temporal stores: a shorter one has too large a share of
/// partial cache lines.
inline constexpr std::size_t min_packed_nontemporal_run_bytes = 4096;

/// Returns true if non-temporal stores suit the runs of the destination, host memory. Runs of whole
/// cache lines need no read for ownership: with 12 threads, rows of 128 bytes to 16 KiB at twice
/// the pitch were unpacked at 79 to 114 GB/s instead of 45 to 69. Other runs share their first and
/// last lines with cached stores: rows of 1 KiB and less were slower with non-temporal stores, rows
/// of 2 KiB as fast, and longer ones faster.
inline bool are_runs_unpacked_nontemporally(layout::canonical_layout const& canonical) noexcept {
  constexpr std::size_t min_unaligned_run_bytes = 2048;
  if (!has_nontemporal_stores) return false;
  if (canonical.run >= min_unaligned_run_bytes) return true;
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(canonical.destination) | canonical.run;
  for (std::size_t i = 0; i != canonical.rank; ++i) {
    bits |= static_cast<std::uintptr_t>(canonical.axes[i].destination);
  }
  return bits % cache_line_bytes == 0;
}

/// Copies as memcpy does, with non-temporal stores for all whole cache lines of the destination.
/// The same as memcpy on processors without such stores. Call nontemporal_fence() after the last
/// copy.
inline void nontemporal_copy(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t line_bytes = cache_line_bytes;
  constexpr std::size_t words_per_line = line_bytes / sizeof(__m128i);
  std::size_t const head =
      (line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes) % line_bytes;
  if (bytes >= head + line_bytes) {
    std::memcpy(to, from, head);
    std::size_t offset = head;
    for (; offset + line_bytes <= bytes; offset += line_bytes) {
      auto const* const source = reinterpret_cast<__m128i const*>(from + offset);
      auto* const destination = reinterpret_cast<__m128i*>(to + offset);
      __m128i words[words_per_line];
      for (std::size_t i = 0; i < words_per_line; ++i) words[i] = _mm_loadu_si128(source + i);
      for (std::size_t i = 0; i < words_per_line; ++i) _mm_stream_si128(destination + i, words[i]);
    }
    to += offset;
    from += offset;
    bytes -= offset;
  }
#endif
  std::memcpy(to, from, bytes);
}

/// Makes the preceding non-temporal stores of this thread visible before its later stores. Required
/// before another thread or the device is told that the data is complete.
inline void nontemporal_fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace roc::transfer
