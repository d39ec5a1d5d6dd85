// SPDX-License-Identifier: MIT
// The sizes of a pool's blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace roc::memory {

/// What all blocks are multiples of and aligned to.
inline constexpr std::size_t granule = 256;
/// What spans, and so large blocks, are multiples of.
inline constexpr std::size_t page = std::size_t{64} << 10;
/// The largest block that has a class.
inline constexpr std::size_t small_limit = std::size_t{1} << 20;

/// Every granule up to 2 KiB, then four classes to each power of two.
constexpr unsigned class_of(std::size_t bytes) {
  std::size_t const last = (bytes - 1) / granule;
  if (last < 8) return static_cast<unsigned>(last);
  auto const width = static_cast<unsigned>(std::bit_width(last));
  return 8 + (width - 4) * 4 + static_cast<unsigned>(last >> (width - 3)) - 4;
}
inline constexpr unsigned class_count = class_of(small_limit) + 1;

constexpr std::size_t class_bytes(unsigned which) {
  if (which < 8) return (which + 1) * granule;
  unsigned const width = (which - 8) / 4 + 4;
  std::size_t const quarter = (which - 8) % 4 + 4;
  return ((quarter + 1) << (width - 3)) * granule;
}

constexpr std::size_t pages_of(std::size_t bytes) { return bytes / page + (bytes % page != 0); }

/// The pages of a span that is cut into blocks of a class: eight blocks up to 1 MiB, one at least.
constexpr std::size_t span_pages(unsigned which) {
  std::size_t const size = class_bytes(which);
  std::size_t const blocks = std::clamp<std::size_t>(small_limit / size, 1, 8);
  return pages_of(size * blocks);
}

static_assert(class_bytes(class_count - 1) == small_limit);
static_assert(class_bytes(class_of(2049)) == 2560 && class_bytes(class_of(2048)) == 2048);

}  // namespace roc::memory
