// SPDX-License-Identifier: MIT
// Copies whose fastest axes differ on the two sides, in tiles: the arguments of the tile kernels
// and the geometry of a block's tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"
#include "kernels/strided_copy_job.hpp"

namespace roc::kernels {

/// Axis `a` has the smallest step of the source, axis `b` that of the destination. A line of the
/// source extends along a, a line of the destination along b. Every block copies tiles of side_a by
/// side_b words; the other axes count tiles. Extents are in words, steps in bytes.
struct tile_job {
  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  std::uint32_t extent_a = 1;
  std::uint32_t extent_b = 1;
  std::ptrdiff_t source_a = 0;
  std::ptrdiff_t source_b = 0;
  std::ptrdiff_t destination_a = 0;
  std::ptrdiff_t destination_b = 0;
  fast_divmod tiles_a;  // the number of tiles along a
  fast_divmod tiles_b;
  std::uint32_t blocks = 0;  // the number of all tiles
  unsigned side_a = 0;       // of a tile, in words
  unsigned side_b = 0;
  // The number of words of the previous tile along b that a tile loads too, so that each line of
  // the destination can be written from one multiple of sector_bytes to another. 0 if the lines are
  // aligned.
  unsigned lookback = 0;
  std::uintptr_t source_low = 0;  // the source is in [source_low, source_high)
  std::uintptr_t source_high = 0;
  unsigned rank = 0;  // of the other axes, outermost first
  fast_divmod extents[max_job_axes] = {};
  std::ptrdiff_t source_steps[max_job_axes] = {};
  std::ptrdiff_t destination_steps[max_job_axes] = {};
};

/// The number of words in a dword of 4 bytes; 1 for words that are not smaller.
template <class Word>
inline constexpr unsigned words_per_dword = sizeof(Word) < 4 ? 4 / sizeof(Word) : 1;
/// The dwords that the threads of a line move at a time: one each.
inline constexpr unsigned dwords_per_line = 32;
/// Returns the largest size of a tile along a, in words of this size: lines long enough for full
/// memory bandwidth, tiles small enough for several blocks per multiprocessor.
constexpr unsigned max_side_a_for(std::size_t word_bytes) {
  if (word_bytes < 4) return static_cast<unsigned>(dwords_per_line * 4 / word_bytes);
  return word_bytes == 4 ? 64 : 32;
}
/// Returns the largest size along b. Tiles of words of 4 and 8 bytes are twice as long as along a,
/// so that the lookback makes them read half as many lines of the source again. GB/s on one H200,
/// read and written, for two permutations of three axes, with square tiles, then with long ones:
/// words of 4 bytes 3460, 3498 and 3644, 3888; of 8 bytes 2802, 3613 and 3095, 3954.
///
/// A compute unit of AMD has 64 KiB of shared memory. The long tile of words of 4 bytes has 32.5
/// KiB, which would leave one block (4 waves of 64 threads) on it; with square tiles there are 3
/// blocks (12 waves), as with the tiles of words of 8 bytes. Not measured on AMD.
constexpr unsigned max_side_b_for(std::size_t word_bytes) {
#if ROCARRAY_PLATFORM_AMD
  bool const is_long = word_bytes == 8;
#else
  bool const is_long = word_bytes == 4 || word_bytes == 8;
#endif
  return is_long ? 2 * max_side_a_for(word_bytes) : max_side_a_for(word_bytes);
}
/// The size along b of a tile that is moved in dwords. Along a it has dwords_per_line, one fewer if
/// the lines of the source are not aligned to dwords.
inline constexpr unsigned tile_dwords = 64;
/// The unit of the device's memory accesses: lines that begin or end within one are written at half
/// the speed.
inline constexpr unsigned sector_bytes = 32;
/// The lines that the threads of a block move at a time.
inline constexpr unsigned tile_lines = 8;
inline constexpr std::uint32_t max_tile_blocks = 1u << 20;  // the kernel's loop covers the rest

/// __launch_bounds__ of a kernel with so many registers that `blocks` blocks of `threads` threads
/// fit on a multiprocessor of NVIDIA. HIP's second argument has another meaning on AMD.
#if ROCARRAY_PLATFORM_NVIDIA
#define ROCARRAY_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#else
#define ROCARRAY_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads)
#endif

/// One tile: the addresses of its first word, with the lookback, on both sides, and its size.
struct tile_geometry {
  std::uintptr_t source;
  std::uintptr_t destination;
  unsigned extent_a;
  unsigned extent_b;  // with the lookback
  unsigned lookback;  // words along b that belong to the previous tile
};

/// Returns the address `index` steps after `from`.
ROCARRAY_HOST_DEVICE inline std::uintptr_t step_by(std::uintptr_t from, unsigned index,
                                                   std::ptrdiff_t step) {
  return from + static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * step);
}

/// Returns the geometry of tile number `block`.
ROCARRAY_HOST_DEVICE inline tile_geometry tile_of(tile_job const& job, std::uint32_t block) {
  tile_geometry result{job.source, job.destination, job.side_a, job.side_b, job.lookback};
  auto const move = [&](std::uint32_t index, std::ptrdiff_t from, std::ptrdiff_t to) {
    result.source += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * from);
    result.destination += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * to);
  };
  std::uint32_t rest = job.tiles_a.quotient(block);
  std::uint32_t const a = (block - rest * job.tiles_a.divisor) * job.side_a;
  std::uint32_t const outer = job.tiles_b.quotient(rest);
  std::uint32_t const b = (rest - outer * job.tiles_b.divisor) * job.side_b;
  rest = outer;
  for (unsigned axis = job.rank; axis-- != 0;) {
    std::uint32_t const whole = job.extents[axis].quotient(rest);
    move(rest - whole * job.extents[axis].divisor, job.source_steps[axis],
         job.destination_steps[axis]);
    rest = whole;
  }
  if (b < job.lookback) result.lookback = b;
  move(a, job.source_a, job.destination_a);
  move(b - result.lookback, job.source_b, job.destination_b);
  result.extent_b += result.lookback;
  if (job.extent_a - a < result.extent_a) result.extent_a = job.extent_a - a;
  std::uint32_t const rest_b = job.extent_b - (b - result.lookback);
  if (rest_b < result.extent_b) result.extent_b = rest_b;
  return result;
}

/// A range of words along b, counted from the tile's first word. Empty if end <= begin.
struct word_range {
  unsigned begin;
  unsigned end;
};

/// Returns the words of a line of the destination that a tile stores. Without lookback these are
/// the words [0, side_b) of the tile. With lookback the range is moved back so that it begins and
/// ends at multiples of sector_bytes; the line must be contiguous then. `line` is the address of
/// the line's first word in the tile.
template <class Word>
ROCARRAY_HOST_DEVICE word_range stored_range(tile_job const& job, tile_geometry const& tile,
                                             std::uintptr_t line) {
  word_range result{tile.lookback, tile.lookback + job.side_b};
  if (job.lookback != 0) {
    std::uintptr_t const first_stored = line + tile.lookback * sizeof(Word);
    auto const back = static_cast<unsigned>(first_stored % sector_bytes / sizeof(Word));
    result.end -= back;
    result.begin -= back < result.begin ? back : result.begin;  // not before the line
  }
  if (result.end > tile.extent_b) result.end = tile.extent_b;
  return result;
}

/// Copies tile number `block` as a single thread, as the CPU does.
template <class Word>
struct copy_tile {
  tile_job job;

  void operator()(std::size_t block) const {
    tile_geometry const tile = tile_of(job, static_cast<std::uint32_t>(block));
    for (unsigned b = tile.lookback; b < tile.extent_b; ++b) {
      for (unsigned a = 0; a < tile.extent_a; ++a) {
        auto const from = static_cast<std::uintptr_t>(a * job.source_a + b * job.source_b);
        auto const to = static_cast<std::uintptr_t>(a * job.destination_a + b * job.destination_b);
        word_at<Word>(tile.destination + to) = word_at<Word const>(tile.source + from);
      }
    }
  }
};

}  // namespace roc::kernels
