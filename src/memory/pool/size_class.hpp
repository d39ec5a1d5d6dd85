// SPDX-License-Identifier: MIT
// The sizes of the blocks of a pool.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory/device/pool_slab.hpp"

namespace roc::memory {

/// Sizes and addresses of all blocks are multiples of this.
inline constexpr std::size_t granule_bytes = 256;
/// The largest block that has a size class. Larger blocks are whole spans.
inline constexpr std::size_t small_limit = std::size_t{1} << 20;

/// Returns the size class for blocks of `bytes`, from 1 to small_limit: one class for each granule
/// up to 2 KiB, then four classes for each power of two.
constexpr unsigned size_class_of(std::size_t bytes) {
  std::size_t const last = (bytes - 1) / granule_bytes;
  if (last < 8) return static_cast<unsigned>(last);
  // One instruction on x86, where std::bit_width takes three.
  unsigned const highest_bit = 63u ^ static_cast<unsigned>(std::countl_zero(std::uint64_t{last}));
  return 8 + (highest_bit - 3) * 4 + static_cast<unsigned>(last >> (highest_bit - 2)) - 4;
}
inline constexpr unsigned size_class_count = size_class_of(small_limit) + 1;

/// Returns the bytes of a block of the size class.
constexpr std::size_t size_class_bytes(unsigned size_class) {
  if (size_class < 8) return (size_class + 1) * granule_bytes;
  unsigned const width = (size_class - 8) / 4 + 4;
  std::size_t const quarter = (size_class - 8) % 4 + 4;
  return ((quarter + 1) << (width - 3)) * granule_bytes;
}

/// Returns the number of pages that hold `bytes`.
constexpr std::size_t page_count(std::size_t bytes) {
  return bytes / page_bytes + (bytes % page_bytes != 0);
}

/// Returns the number of pages of a span that is divided into blocks of the size class: eight
/// blocks, or as many as fit in 1 MiB if these are fewer, and at least one.
constexpr std::size_t span_pages(unsigned size_class) {
  std::size_t const size = size_class_bytes(size_class);
  std::size_t const blocks = std::clamp<std::size_t>(small_limit / size, 1, 8);
  return page_count(size * blocks);
}

static_assert(size_class_bytes(size_class_count - 1) == small_limit);
static_assert(size_class_bytes(size_class_of(2049)) == 2560 &&
              size_class_bytes(size_class_of(2048)) == 2048);

}  // namespace roc::memory
