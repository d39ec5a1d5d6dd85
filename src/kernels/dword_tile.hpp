// SPDX-License-Identifier: MIT
// A tile of words of 1 or 2 bytes in shared memory, loaded and stored in dwords wherever its lines
// begin. For device compilers and host stubs.
//
// The tile in shared memory is transposed: it has one line of tile_dwords dwords per index along a,
// each dword of words that follow each other along b. A block has dwords_per_line by tile_lines
// threads.
//
// The beginnings of two lines whose numbers differ by sector_bytes differ by a multiple of a
// sector, whatever the step between lines is. So a thread stores such lines together, and computes
// only once where their dwords begin and end. Lines of the source repeat in the same way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/dword.hpp"
#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"

namespace roc::kernels {

inline constexpr unsigned dword_bytes = 4;
/// The loads that a thread has in flight. On AMD, only two blocks with tiles of bytes fit into the
/// shared memory of a compute unit, so that their threads have registers for 16. Not measured.
template <class Word>
inline constexpr unsigned loads_at_once = 8;
#if ROCARRAY_PLATFORM_AMD
template <>
inline constexpr unsigned loads_at_once<std::uint8_t> = 16;
#endif
/// The groups of lines that a thread loads at once.
template <class Word>
inline constexpr unsigned groups_at_once = loads_at_once<Word> / words_per_dword<Word>;

/// The dwords of a tile. They are permuted within each line so that the dwords that the threads of
/// a source line write at once, to one line of the tile each, are in different banks.
template <class Word>
struct dword_tile {
  static constexpr unsigned lines = dwords_per_line * words_per_dword<Word>;
  static constexpr unsigned line_bytes = tile_dwords * dword_bytes;

  std::uint32_t dwords[lines * tile_dwords];

  /// Returns the offset of a dword, in bytes. `a` is the line, `dword` counts along b and wraps.
  __device__ static unsigned offset(unsigned a, unsigned dword) {
    return a * line_bytes +
           (dword % tile_dwords ^ a / words_per_dword<Word> % dwords_per_line) * dword_bytes;
  }
  /// Returns the dword at an offset.
  __device__ std::uint32_t& at(unsigned offset) {
    return *reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(dwords) + offset);
  }
  __device__ std::uint32_t at(unsigned offset) const {
    return *reinterpret_cast<std::uint32_t const*>(reinterpret_cast<char const*>(dwords) + offset);
  }
};

/// Returns true if no dword that the threads of the block load extends beyond the source's range.
template <class Word>
__device__ bool is_inside(tile_geometry const& geometry, tile_job const& job) {
  std::uintptr_t const first = geometry.source;
  std::uintptr_t const last = step_by(first, geometry.extent_b - 1, job.source_b);
  std::uintptr_t const lowest = first < last ? first : last;
  std::uintptr_t const highest = first < last ? last : first;
  return lowest - lowest % dword_bytes >= job.source_low &&
         highest + geometry.extent_a * sizeof(Word) + 2 * dword_bytes - 1 <= job.source_high;
}

/// Loads the dword at a multiple of four bytes, or the words of it that are within the source's
/// range.
template <class Word>
__device__ std::uint32_t load_within_source(std::uintptr_t address, tile_job const& job) {
  std::uint32_t dword = 0;
  for (unsigned byte = 0; byte < dword_bytes; byte += sizeof(Word)) {
    if (address + byte < job.source_low || address + byte >= job.source_high) continue;
    dword |= std::uint32_t{word_at<Word const>(address + byte)} << (8 * byte);
  }
  return dword;
}

/// Loads a tile, each thread its dword of every line of the source. At the ends of a line they may
/// also contain bytes of other lines or gaps. `Aligned`: all lines begin at multiples of four
/// bytes. `Inside`: is_inside() is true. All threads of the block must call this.
template <class Word, bool Aligned, bool Inside>
__device__ void load_tile(dword_tile<Word>& tile, tile_geometry const& geometry,
                          tile_job const& job) {
  constexpr unsigned per_dword = words_per_dword<Word>;
  constexpr unsigned groups = groups_at_once<Word>;
  constexpr unsigned group_lines = tile_lines * per_dword;
  unsigned const first = threadIdx.y * per_dword;
  // If lines are not aligned, the last dword may begin in the dword of the next thread.
  unsigned const bytes =
      geometry.extent_a * static_cast<unsigned>(sizeof(Word)) + (Aligned ? 0 : dword_bytes - 1);
  // The lines from this thread's first one on, of which it loads its dword.
  bool const has_lines = threadIdx.x * dword_bytes < bytes && first < geometry.extent_b;
  int rest = has_lines ? static_cast<int>(geometry.extent_b - first) : 0;
  std::uintptr_t from[per_dword];
  unsigned misalignments[per_dword];
  ROCARRAY_UNROLL
  for (unsigned i = 0; i < per_dword; ++i) {
    from[i] = step_by(geometry.source + threadIdx.x * dword_bytes, first + i, job.source_b);
    // Lines whose numbers differ by group_lines begin at the same offset in a dword.
    misalignments[i] = Aligned ? 0 : static_cast<unsigned>(from[i] % dword_bytes);
    from[i] -= misalignments[i];
  }
  std::uintptr_t const group_step = step_by(0, group_lines, job.source_b);
  unsigned dword = threadIdx.y;
  for (unsigned b = 0; b < geometry.extent_b; b += groups * group_lines) {
    // All loads are in flight before the first result is used.
    std::uint32_t dwords[groups][per_dword] = {};
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < groups; ++k) {
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < per_dword; ++i) {
        if (rest > static_cast<int>(k * group_lines + i)) {
          dwords[k][i] = Inside ? word_at<std::uint32_t const>(from[i])
                                : load_within_source<Word>(from[i], job);
        }
        from[i] += group_step;
      }
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < groups; ++k) {
      if (!Aligned) {
        ROCARRAY_UNROLL
        for (unsigned i = 0; i < per_dword; ++i) {
          dwords[k][i] = shifted(dwords[k][i], from_next_lane(dwords[k][i]), misalignments[i]);
        }
      }
      transpose(dwords[k]);
      unsigned const place = tile.offset(threadIdx.x * per_dword, dword + k * tile_lines);
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < per_dword; ++i) tile.at(place + i * tile.line_bytes) = dwords[k][i];
    }
    rest -= static_cast<int>(groups * group_lines);
    dword += groups * tile_lines;
  }
}

/// Loads a tile. All threads of the block must call this.
template <class Word>
__device__ void load_tile(dword_tile<Word>& tile, tile_geometry const& geometry,
                          tile_job const& job) {
  bool const aligned = job.side_a == dword_tile<Word>::lines;
  if (!is_inside<Word>(geometry, job)) {
    load_tile<Word, false, false>(tile, geometry, job);
  } else if (aligned) {
    load_tile<Word, true, true>(tile, geometry, job);
  } else {
    load_tile<Word, false, true>(tile, geometry, job);
  }
}

/// The lines of a tile that one thread stores together: every sector_bytes-th one.
template <class Word>
struct line_group {
  static constexpr unsigned lines = dword_tile<Word>::lines / sector_bytes;

  dword_tile<Word> const& tile;
  unsigned first;       // the first line
  unsigned extent_a;    // of the tile
  std::uintptr_t step;  // between the lines in the destination

  /// Returns the dword that begins `bytes` bytes after that at offset `place` in the tile, of line
  /// j of the group. Both places are those of the first line: `next` is of the following dword.
  template <bool Shifted>
  __device__ std::uint32_t dword(unsigned place, unsigned next, unsigned j, unsigned bytes) const {
    // The number of the line is part of the permutation of its dwords.
    unsigned const flip = j * sector_bytes / words_per_dword<Word> * dword_bytes;
    unsigned const line = j * sector_bytes * dword_tile<Word>::line_bytes;
    std::uint32_t const result = tile.at(line + (place ^ flip));
    return Shifted ? shifted(result, tile.at(line + (next ^ flip)), bytes) : result;
  }

  /// Stores a range of the lines. `begin` is the offset of its first dword from the beginning of
  /// the lines, `to` the address of this dword for the first line, a multiple of four bytes. The
  /// range begins `misalignment` bytes after it and ends after `bytes`. `Shifted`: the dwords of
  /// the tile do not begin where those of the destination do.
  template <bool Shifted>
  __device__ void store(std::uintptr_t to, unsigned misalignment, unsigned bytes, int begin) const {
    auto const phase = static_cast<unsigned>(begin) % dword_bytes;
    auto const index = static_cast<unsigned>(begin >> 2);  // the first may be dword -1, which wraps
    unsigned const first_whole = misalignment == 0 ? 0 : 1;
    unsigned const last = bytes / dword_bytes;  // after the last whole dword
    unsigned const place = tile.offset(first, index + threadIdx.x);
    unsigned const next = tile.offset(first, index + threadIdx.x + 1);
    // The thread's second dword, half a line after its first one.
    constexpr unsigned half = dwords_per_line * dword_bytes;
    static_assert(tile_dwords == 2 * dwords_per_line);
    bool const has_first = threadIdx.x >= first_whole && threadIdx.x < last;
    bool const has_second = threadIdx.x + dwords_per_line < last;
    // All are read from the tile before the first one is stored, so that none waits for another.
    std::uint32_t dwords[lines][2];
    ROCARRAY_UNROLL
    for (unsigned j = 0; j < lines; ++j) {
      dwords[j][0] = dword<Shifted>(place, next, j, phase);
      dwords[j][1] = dword<Shifted>(place ^ half, next ^ half, j, phase);
    }
    std::uintptr_t out = to + threadIdx.x * dword_bytes;
    ROCARRAY_UNROLL
    for (unsigned j = 0; j < lines; ++j) {
      bool const has_line = first + j * sector_bytes < extent_a;
      if (has_first && has_line) word_at<std::uint32_t>(out) = dwords[j][0];
      if (has_second && has_line) word_at<std::uint32_t>(out + half) = dwords[j][1];
      out += step;
    }
    if ((misalignment | bytes % dword_bytes) != 0) {
      store_ends<Shifted>(to, misalignment, bytes, index, phase);
    }
  }

 private:
  /// Stores the dwords at the ends of a range, which belong to it only in part. The first thread
  /// stores that before the first whole dword, and the second thread the one after the last.
  template <bool Shifted>
  __device__ void store_ends(std::uintptr_t to, unsigned misalignment, unsigned bytes,
                             unsigned index, unsigned phase) const {
    if (threadIdx.x > 1) return;
    if ((threadIdx.x == 0 ? misalignment : bytes % dword_bytes) == 0) return;
    unsigned const end = threadIdx.x == 0 ? 0 : bytes / dword_bytes;
    int const low = static_cast<int>(misalignment) - static_cast<int>(end * dword_bytes);
    int const high = static_cast<int>(bytes) - static_cast<int>(end * dword_bytes);
    unsigned const place = tile.offset(first, index + end);
    unsigned const next = tile.offset(first, index + end + 1);
    std::uintptr_t out = to + end * dword_bytes;
    ROCARRAY_UNROLL
    for (unsigned j = 0; j < lines; ++j) {
      if (first + j * sector_bytes >= extent_a) break;
      std::uint32_t const end_dword = dword<Shifted>(place, next, j, phase);
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < words_per_dword<Word>; ++i) {
        int const byte = static_cast<int>(i * sizeof(Word));
        if (byte < low || byte >= high) continue;
        word_at<Word>(out + i * sizeof(Word)) =
            static_cast<Word>(end_dword >> (8 * i * sizeof(Word)));
      }
      out += step;
    }
  }
};

/// Stores a tile, after all threads of the block have loaded it.
template <class Word>
__device__ void store_tile(dword_tile<Word> const& tile, tile_geometry const& geometry,
                           tile_job const& job) {
  constexpr auto size = static_cast<unsigned>(sizeof(Word));
  std::uintptr_t to = step_by(geometry.destination, threadIdx.y, job.destination_a);
  std::uintptr_t const group_step = step_by(0, sector_bytes, job.destination_a);
  for (unsigned a = threadIdx.y; a < sector_bytes && a < geometry.extent_a; a += tile_lines) {
    word_range const range = stored_range<Word>(job, geometry, to);
    if (range.begin < range.end) {
      line_group<Word> const group{tile, a, geometry.extent_a, group_step};
      auto const misalignment = static_cast<unsigned>(to + range.begin * size) % dword_bytes;
      unsigned const bytes = (range.end - range.begin) * size + misalignment;
      int const begin = static_cast<int>(range.begin * size) - static_cast<int>(misalignment);
      std::uintptr_t const first_dword =
          to + static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(begin));
      if (begin % static_cast<int>(dword_bytes) == 0) {
        group.template store<false>(first_dword, misalignment, bytes, begin);
      } else {
        group.template store<true>(first_dword, misalignment, bytes, begin);
      }
    }
    to = step_by(to, tile_lines, job.destination_a);
  }
}

}  // namespace roc::kernels
