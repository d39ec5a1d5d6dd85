// SPDX-License-Identifier: MIT
// A tile of small units: its way out of the memory of a block. For device compilers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"
#include "kernels/word_tile_load.hpp"

namespace roc::kernels {

// An end of a line of the destination, unit by unit: what lies beside it is others'. `begin` counts
// bytes from the line's beginning.
template <class Unit>
__device__ void store_part(std::uintptr_t to, std::uint32_t word, int begin, int bytes) {
  for (int byte = 0; byte < static_cast<int>(word_bytes); byte += static_cast<int>(sizeof(Unit))) {
    if (begin + byte < 0 || begin + byte >= bytes) continue;
    *reinterpret_cast<Unit*>(to + static_cast<unsigned>(byte)) =
        static_cast<Unit>(word >> (8 * byte));
  }
}

// A line of the tile to one of the destination, by words there.
template <class Unit>
__device__ void store_line(std::uint32_t const* line, unsigned a, std::uintptr_t to,
                           unit_range own) {
  constexpr auto size = static_cast<unsigned>(sizeof(Unit));
  if (own.end <= own.begin) return;
  unsigned const ahead = static_cast<unsigned>(to + own.begin * size) % word_bytes;
  unsigned const bytes = (own.end - own.begin) * size + ahead;
  unsigned const begin = own.begin * size - ahead;  // the line of the tile may begin behind it
  unsigned const phase = begin % word_bytes;
  auto const word_at = [&](unsigned index) {
    index += begin / word_bytes;
    std::uint32_t const word = line[place_in_line<Unit>(a, index)];
    return phase == 0 ? word : shifted(word, line[place_in_line<Unit>(a, index + 1)], phase);
  };
  to += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(static_cast<int>(begin)));
  ROCARRAY_UNROLL
  for (unsigned i = 0; i < tile_words; i += words_per_line) {
    unsigned const at = (i + threadIdx.x) * word_bytes;
    std::uint32_t const word = word_at(i + threadIdx.x);
    if (at >= ahead && at + word_bytes <= bytes) *reinterpret_cast<std::uint32_t*>(to + at) = word;
  }
  if ((ahead | bytes % word_bytes) == 0) return;
  auto const part = [&](unsigned index) {
    unsigned const at = index * word_bytes;
    store_part<Unit>(to + at, word_at(index), static_cast<int>(at) - static_cast<int>(ahead),
                     static_cast<int>(bytes - ahead));
  };
  unsigned const last = bytes / word_bytes;
  if (threadIdx.x == 0 && ahead != 0) part(0);
  if (threadIdx.x == last % words_per_line && bytes % word_bytes != 0) part(last);
}

template <class Unit>
__device__ void store_words(std::uint32_t const* tile, tile_place const& at, tile_job const& job) {
  std::uintptr_t line = step_by(at.destination, threadIdx.y, job.destination_a);
  for (unsigned a = threadIdx.y; a < at.extent_a; a += tile_lines) {
    store_line<Unit>(tile + a * tile_words, a, line, stored_by<Unit>(job, at, line));
    line = step_by(line, tile_lines, job.destination_a);
  }
}

}  // namespace roc::kernels
