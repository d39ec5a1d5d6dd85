// SPDX-License-Identifier: MIT
// A tile of small units: its way into the memory of a block. For device compilers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"
#include "kernels/words.hpp"

namespace roc::kernels {

inline constexpr unsigned word_bytes = 4;
template <class Unit>
inline constexpr unsigned groups_at_once = 8 / units_per_word<Unit>;

/// Where a word of units along b lies in the line of `a`: those that the threads of a line write at
/// once, each for units of its own, in different banks.
template <class Unit>
__device__ unsigned place_in_line(unsigned a, unsigned word) {
  return (word ^ (a / units_per_word<Unit> % words_per_line)) % tile_words;
}

/// What a thread reads of the lines of the source: its word of each, from a multiple of a word's
/// size on. At the lines' ends it may be of other lines too, or of nobody in the gaps between: of
/// the source's memory all the same.
template <class Unit>
class word_column {
 public:
  __device__ word_column(tile_job const& job, tile_place const& at)
      : job_(job),
        lines_(at.extent_b),
        aligned_(job.side_a == words_per_line * units_per_word<Unit>),
        place_(threadIdx.x * word_bytes) {
    // The last word may begin in the next thread's.
    unsigned const bytes =
        at.extent_a * static_cast<unsigned>(sizeof(Unit)) + (aligned_ ? 0 : word_bytes - 1);
    any_ = place_ < bytes;
    std::uintptr_t const first = at.source;
    std::uintptr_t const last = step_by(first, lines_ - 1, job.source_b);
    std::uintptr_t const lowest = first < last ? first : last;
    std::uintptr_t const highest = first < last ? last : first;
    inside_ = lowest - lowest % word_bytes >= job.source_low &&
              highest + bytes + word_bytes <= job.source_high;
    place_ += at.source;
  }

  __device__ bool aligned() const { return aligned_; }
  /// Whether so many lines may be read without another look.
  __device__ bool has_all_to(unsigned end) const { return inside_ && end <= lines_; }
  __device__ std::uintptr_t line(unsigned b) const { return step_by(place_, b, job_.source_b); }

  /// 0 where there is none. `Sure`: the tile has such a line, all of whose words are the source's.
  template <bool Sure>
  __device__ std::uint32_t load(std::uintptr_t at, unsigned b) const {
    if (!any_ || (!Sure && b >= lines_)) return 0;
    at -= at % word_bytes;
    if (Sure || inside_ || (at >= job_.source_low && at + word_bytes <= job_.source_high)) {
      return *reinterpret_cast<std::uint32_t const*>(at);
    }
    std::uint32_t word = 0;
    for (unsigned byte = 0; byte < word_bytes; byte += sizeof(Unit)) {
      if (at + byte < job_.source_low || at + byte >= job_.source_high) continue;
      word |= std::uint32_t{*reinterpret_cast<Unit const*>(at + byte)} << (8 * byte);
    }
    return word;
  }

 private:
  tile_job const& job_;
  unsigned lines_;
  bool aligned_;
  bool any_;
  bool inside_;  // no word of the tile reaches beyond the source
  std::uintptr_t place_;
};

/// Groups of as many lines as a word has units become words of units along b. All words of a thread
/// are on their way before the first is used.
template <class Unit, bool Sure>
__device__ void load_groups(std::uint32_t* tile, word_column<Unit> const& from, unsigned first,
                            std::ptrdiff_t step) {
  constexpr unsigned per_word = units_per_word<Unit>;
  constexpr unsigned groups = groups_at_once<Unit>;
  std::uintptr_t const begin = from.line(first);
  std::uint32_t words[groups][per_word];
  ROCARRAY_UNROLL
  for (unsigned k = 0; k < groups; ++k) {
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < per_word; ++i) {
      unsigned const b = k * tile_lines * per_word + i;
      words[k][i] = from.template load<Sure>(step_by(begin, b, step), first + b);
    }
  }
  ROCARRAY_UNROLL
  for (unsigned k = 0; k < groups; ++k) {
    if (!from.aligned()) {
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < per_word; ++i) {
        auto const phase = static_cast<unsigned>(
            step_by(begin, k * tile_lines * per_word + i, step) % word_bytes);
        words[k][i] = shifted(words[k][i], of_next_lane(words[k][i]), phase);
      }
    }
    transpose(words[k]);
    unsigned const a = threadIdx.x * per_word;
    unsigned const place = place_in_line<Unit>(a, first / per_word + k * tile_lines);
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < per_word; ++i) tile[(a + i) * tile_words + place] = words[k][i];
  }
}

template <class Unit>
__device__ void load_words(std::uint32_t* tile, tile_place const& at, tile_job const& job) {
  constexpr unsigned per_word = units_per_word<Unit>;
  constexpr unsigned lines = groups_at_once<Unit> * tile_lines * per_word;
  word_column<Unit> const from(job, at);
  for (unsigned b = 0; b < at.extent_b; b += lines) {
    unsigned const first = b + threadIdx.y * per_word;
    if (from.has_all_to(b + lines)) {
      load_groups<Unit, true>(tile, from, first, job.source_b);
    } else {
      load_groups<Unit, false>(tile, from, first, job.source_b);
    }
  }
}

}  // namespace roc::kernels
