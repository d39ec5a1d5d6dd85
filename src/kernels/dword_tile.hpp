// SPDX-License-Identifier: MIT
// A tile of words of 1 or 2 bytes in shared memory, loaded and stored in dwords wherever its lines
// begin. For device compilers and host stubs.
//
// The tile in shared memory is transposed: it has one line of tile_dwords dwords per index along a,
// each dword of words that follow each other along b. A block has dwords_per_line by tile_lines
// threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/dword.hpp"
#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"

namespace roc::kernels {

inline constexpr unsigned dword_bytes = 4;
/// The groups of lines that a thread loads at once: eight dwords in flight.
template <class Word>
inline constexpr unsigned groups_at_once = 8 / words_per_dword<Word>;

/// Returns the position of a dword in its line of the tile. `a` is the line, `dword` counts along
/// b. The positions are permuted so that the dwords that the threads of a source line write at
/// once, to one line of the tile each, are in different banks.
template <class Word>
__device__ unsigned swizzled(unsigned a, unsigned dword) {
  return (dword ^ (a / words_per_dword<Word> % dwords_per_line)) % tile_dwords;
}

/// The dwords of the source that one thread loads: its dword of each line of the source, from a
/// multiple of four bytes on. At the ends of a line they may also contain bytes of other lines or
/// gaps; these are loaded only if they are within the source's range.
template <class Word>
class dword_column {
 public:
  __device__ dword_column(tile_job const& job, tile_geometry const& tile)
      : job_(job),
        lines_(tile.extent_b),
        aligned_(job.side_a == dwords_per_line * words_per_dword<Word>),
        address_(threadIdx.x * dword_bytes) {
    // If lines are not aligned, the last dword may begin in the dword of the next thread.
    unsigned const bytes =
        tile.extent_a * static_cast<unsigned>(sizeof(Word)) + (aligned_ ? 0 : dword_bytes - 1);
    has_dword_ = address_ < bytes;
    std::uintptr_t const first = tile.source;
    std::uintptr_t const last = step_by(first, lines_ - 1, job.source_b);
    std::uintptr_t const lowest = first < last ? first : last;
    std::uintptr_t const highest = first < last ? last : first;
    inside_ = lowest - lowest % dword_bytes >= job.source_low &&
              highest + bytes + dword_bytes <= job.source_high;
    address_ += tile.source;
  }

  /// Returns true if all lines begin at multiples of four bytes.
  __device__ bool aligned() const { return aligned_; }
  /// Returns true if lines [0, end) can be loaded without any check.
  __device__ bool is_unchecked_to(unsigned end) const { return inside_ && end <= lines_; }
  /// Returns the address of the thread's dword in line b, before it is rounded down.
  __device__ std::uintptr_t line(unsigned b) const { return step_by(address_, b, job_.source_b); }

  /// Loads the dword at an address in line b, rounded down to a multiple of four bytes. Returns 0
  /// if the tile has no such dword. `Unchecked`: is_unchecked_to is true for line b.
  template <bool Unchecked>
  __device__ std::uint32_t load(std::uintptr_t address, unsigned b) const {
    if (!has_dword_ || (!Unchecked && b >= lines_)) return 0;
    address -= address % dword_bytes;
    if (Unchecked || inside_ ||
        (address >= job_.source_low && address + dword_bytes <= job_.source_high)) {
      return *reinterpret_cast<std::uint32_t const*>(address);
    }
    std::uint32_t dword = 0;
    for (unsigned byte = 0; byte < dword_bytes; byte += sizeof(Word)) {
      if (address + byte < job_.source_low || address + byte >= job_.source_high) continue;
      dword |= std::uint32_t{*reinterpret_cast<Word const*>(address + byte)} << (8 * byte);
    }
    return dword;
  }

 private:
  tile_job const& job_;
  unsigned lines_;
  bool aligned_;
  bool has_dword_;  // the thread's dword is part of the tile
  bool inside_;     // no dword of the tile extends beyond the source's range
  std::uintptr_t address_;
};

/// Loads groups of as many lines as a dword has words, and writes them to the tile as dwords along
/// b. `first` is the thread's first line, `step` the step between lines. All loads of a thread are
/// in flight before the first result is used.
template <class Word, bool Unchecked>
__device__ void load_groups(std::uint32_t* tile, dword_column<Word> const& column, unsigned first,
                            std::ptrdiff_t step) {
  constexpr unsigned per_dword = words_per_dword<Word>;
  constexpr unsigned groups = groups_at_once<Word>;
  std::uintptr_t const begin = column.line(first);
  std::uint32_t dwords[groups][per_dword];
  ROCARRAY_UNROLL
  for (unsigned k = 0; k < groups; ++k) {
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < per_dword; ++i) {
      unsigned const b = k * tile_lines * per_dword + i;
      dwords[k][i] = column.template load<Unchecked>(step_by(begin, b, step), first + b);
    }
  }
  ROCARRAY_UNROLL
  for (unsigned k = 0; k < groups; ++k) {
    if (!column.aligned()) {
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < per_dword; ++i) {
        auto const misalignment = static_cast<unsigned>(
            step_by(begin, k * tile_lines * per_dword + i, step) % dword_bytes);
        dwords[k][i] = shifted(dwords[k][i], from_next_lane(dwords[k][i]), misalignment);
      }
    }
    transpose(dwords[k]);
    unsigned const a = threadIdx.x * per_dword;
    unsigned const position = swizzled<Word>(a, first / per_dword + k * tile_lines);
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < per_dword; ++i) tile[(a + i) * tile_dwords + position] = dwords[k][i];
  }
}

/// Loads a tile. All threads of the block must call this.
template <class Word>
__device__ void load_dwords(std::uint32_t* tile, tile_geometry const& geometry,
                            tile_job const& job) {
  constexpr unsigned per_dword = words_per_dword<Word>;
  constexpr unsigned lines = groups_at_once<Word> * tile_lines * per_dword;
  dword_column<Word> const column(job, geometry);
  for (unsigned b = 0; b < geometry.extent_b; b += lines) {
    unsigned const first = b + threadIdx.y * per_dword;
    if (column.is_unchecked_to(b + lines)) {
      load_groups<Word, true>(tile, column, first, job.source_b);
    } else {
      load_groups<Word, false>(tile, column, first, job.source_b);
    }
  }
}

/// Stores, word by word, the part of a dword that belongs to a line of the destination. `begin` is
/// the offset of the dword from the line's beginning, which has `bytes` bytes.
template <class Word>
__device__ void store_part(std::uintptr_t to, std::uint32_t dword, int begin, int bytes) {
  for (int byte = 0; byte < static_cast<int>(dword_bytes); byte += static_cast<int>(sizeof(Word))) {
    if (begin + byte < 0 || begin + byte >= bytes) continue;
    *reinterpret_cast<Word*>(to + static_cast<unsigned>(byte)) =
        static_cast<Word>(dword >> (8 * byte));
  }
}

/// Stores a range of a line of the tile to the line of the destination at `to`, in dwords that are
/// aligned there.
template <class Word>
__device__ void store_line(std::uint32_t const* line, unsigned a, std::uintptr_t to,
                           word_range range) {
  constexpr auto size = static_cast<unsigned>(sizeof(Word));
  if (range.end <= range.begin) return;
  unsigned const misalignment = static_cast<unsigned>(to + range.begin * size) % dword_bytes;
  unsigned const bytes = (range.end - range.begin) * size + misalignment;
  // The offset of the first dword from the beginning of the line. It may be negative, which wraps.
  unsigned const begin = range.begin * size - misalignment;
  unsigned const phase = begin % dword_bytes;
  auto const dword_at = [&](unsigned index) {
    index += begin / dword_bytes;
    std::uint32_t const dword = line[swizzled<Word>(a, index)];
    return phase == 0 ? dword : shifted(dword, line[swizzled<Word>(a, index + 1)], phase);
  };
  to += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(static_cast<int>(begin)));
  ROCARRAY_UNROLL
  for (unsigned i = 0; i < tile_dwords; i += dwords_per_line) {
    unsigned const offset = (i + threadIdx.x) * dword_bytes;
    std::uint32_t const dword = dword_at(i + threadIdx.x);
    if (offset >= misalignment && offset + dword_bytes <= bytes) {
      *reinterpret_cast<std::uint32_t*>(to + offset) = dword;
    }
  }
  // The dwords at the ends belong to the range only in part.
  if ((misalignment | bytes % dword_bytes) == 0) return;
  auto const store_end = [&](unsigned index) {
    unsigned const offset = index * dword_bytes;
    store_part<Word>(to + offset, dword_at(index),
                     static_cast<int>(offset) - static_cast<int>(misalignment),
                     static_cast<int>(bytes - misalignment));
  };
  unsigned const last = bytes / dword_bytes;
  if (threadIdx.x == 0 && misalignment != 0) store_end(0);
  if (threadIdx.x == last % dwords_per_line && bytes % dword_bytes != 0) store_end(last);
}

/// Stores a tile, after all threads of the block have loaded it.
template <class Word>
__device__ void store_dwords(std::uint32_t const* tile, tile_geometry const& geometry,
                             tile_job const& job) {
  std::uintptr_t line = step_by(geometry.destination, threadIdx.y, job.destination_a);
  for (unsigned a = threadIdx.y; a < geometry.extent_a; a += tile_lines) {
    store_line<Word>(tile + a * tile_dwords, a, line, stored_range<Word>(job, geometry, line));
    line = step_by(line, tile_lines, job.destination_a);
  }
}

}  // namespace roc::kernels
