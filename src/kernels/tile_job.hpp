// SPDX-License-Identifier: MIT
// A permutation whose fastest axes differ on the two sides, in square tiles: what a block does.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"
#include "kernels/strided_copy_job.hpp"

namespace roc::kernels {

/// Axis `a` has the smallest step of the source, `b` that of the destination; extents in units,
/// steps in bytes. The other axes are strided_loop by blocks.
struct tile_job {
  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  std::uint32_t extent_a = 1;
  std::uint32_t extent_b = 1;
  std::ptrdiff_t source_a = 0;
  std::ptrdiff_t source_b = 0;
  std::ptrdiff_t destination_a = 0;
  std::ptrdiff_t destination_b = 0;
  fast_divmod tiles_a;  // how many along a
  fast_divmod tiles_b;
  std::uint32_t blocks = 0;
  unsigned side_a = 0;  // of a tile, in units
  unsigned side_b = 0;
  // Units by which a tile reaches back along b, so that each line of the destination can be written
  // from and to a multiple of sector_bytes; 0: it need not.
  unsigned reach = 0;
  // Between them lies all of the source.
  std::uintptr_t source_low = 0;
  std::uintptr_t source_high = 0;
  unsigned rank = 0;  // of the others, outermost first
  fast_divmod extents[max_job_axes] = {};
  std::ptrdiff_t source_steps[max_job_axes] = {};
  std::ptrdiff_t destination_steps[max_job_axes] = {};
};

/// Units smaller than a word are moved by words of 4 bytes, 32 at a time.
template <class Unit>
inline constexpr unsigned units_per_word = sizeof(Unit) < 4 ? 4 / sizeof(Unit) : 1;
inline constexpr unsigned words_per_line = 32;
/// The longest side of a tile: lines long enough for the memory, tiles that fit several blocks'
/// memory.
constexpr unsigned most_side_for(std::size_t unit) {
  if (unit < 4) return static_cast<unsigned>(words_per_line * 4 / unit);
  return unit == 4 ? 64 : 32;
}
template <class Unit>
inline constexpr unsigned most_side = most_side_for(sizeof(Unit));
/// Words along b of a tile that is moved by words, and words_per_line along a; one fewer where the
/// lines of the source begin anywhere within a word.
inline constexpr unsigned tile_words = 64;
/// What the memory of devices moves at once: lines that begin or end within one are written twice
/// as slowly.
inline constexpr unsigned sector_bytes = 32;
inline constexpr unsigned tile_lines = 8;  // that the threads of a block move at a time
inline constexpr std::uint32_t most_tile_blocks = 1u << 20;  // a block's stride covers the rest

/// Where the tile of a block begins, on both sides, and how much of it there is.
struct tile_place {
  std::uintptr_t source;
  std::uintptr_t destination;
  unsigned extent_a;
  unsigned extent_b;
  unsigned before;  // lines along b of the tile before, which come first
};

ROCARRAY_HOST_DEVICE inline std::uintptr_t step_by(std::uintptr_t from, unsigned index,
                                              std::ptrdiff_t step) {
  return from + static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * step);
}

ROCARRAY_HOST_DEVICE inline tile_place place_of(tile_job const& job, std::uint32_t block) {
  tile_place result{job.source, job.destination, job.side_a, job.side_b, job.reach};
  auto const move = [&](std::uint32_t index, std::ptrdiff_t from, std::ptrdiff_t to) {
    result.source += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * from);
    result.destination += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * to);
  };
  std::uint32_t rest = job.tiles_a.quotient(block);
  std::uint32_t const a = (block - rest * job.tiles_a.divisor) * job.side_a;
  std::uint32_t const others = job.tiles_b.quotient(rest);
  std::uint32_t const b = (rest - others * job.tiles_b.divisor) * job.side_b;
  rest = others;
  for (unsigned axis = job.rank; axis-- != 0;) {
    std::uint32_t const whole = job.extents[axis].quotient(rest);
    move(rest - whole * job.extents[axis].divisor, job.source_steps[axis],
         job.destination_steps[axis]);
    rest = whole;
  }
  if (b < job.reach) result.before = b;
  move(a, job.source_a, job.destination_a);
  move(b - result.before, job.source_b, job.destination_b);
  result.extent_b += result.before;
  if (job.extent_a - a < result.extent_a) result.extent_a = job.extent_a - a;
  std::uint32_t const rest_b = job.extent_b - (b - result.before);
  if (rest_b < result.extent_b) result.extent_b = rest_b;
  return result;
}

/// Units along b, from the tile's first on; none where the end comes first.
struct unit_range {
  unsigned begin;
  unsigned end;
};

/// What a tile writes of a line of the destination, which is contiguous where the job has a reach:
/// its own units along b, or as many from a sector's beginning on.
template <class Unit>
ROCARRAY_HOST_DEVICE unit_range stored_by(tile_job const& job, tile_place const& at,
                                     std::uintptr_t line) {
  unit_range result{at.before, at.before + job.side_b};
  if (job.reach != 0) {
    std::uintptr_t const own = line + at.before * sizeof(Unit);
    auto const back = static_cast<unsigned>(own % sector_bytes / sizeof(Unit));
    result.end -= back;
    result.begin -= back < result.begin ? back : result.begin;  // none lie before the line
  }
  if (result.end > at.extent_b) result.end = at.extent_b;
  return result;
}

/// A whole tile by one thread: what the CPU does.
template <class Unit>
struct copy_tile {
  tile_job job;

  void operator()(std::size_t block) const {
    tile_place const at = place_of(job, static_cast<std::uint32_t>(block));
    for (unsigned b = at.before; b < at.extent_b; ++b) {
      for (unsigned a = 0; a < at.extent_a; ++a) {
        auto const from = static_cast<std::uintptr_t>(a * job.source_a + b * job.source_b);
        auto const to = static_cast<std::uintptr_t>(a * job.destination_a + b * job.destination_b);
        *reinterpret_cast<Unit*>(at.destination + to) =
            *reinterpret_cast<Unit const*>(at.source + from);
      }
    }
  }
};

}  // namespace roc::kernels
