// SPDX-License-Identifier: MIT
// Permutations of elements of 1 and 2 bytes whose lines are contiguous on both sides: in tiles, by
// words of 4 bytes wherever the lines begin.
#include <cstdint>

#include "kernels/launch.hpp"
#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/twin.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROC_KERNEL_TWIN

namespace roc::kernels {

#if ROC_KERNEL_TWIN

// Threads run one after the other there and share nothing: the first of a block does it all.
template <class Unit>
__global__ void word_tile_kernel(tile_job job) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    copy_tile<Unit>{job}(block);
  }
}

#else

constexpr unsigned word_bytes = 4;

/// A thread's word of a line of `bytes` bytes, which begins `phase` bytes behind a multiple of a
/// word's size.
struct word_of_line {
  int begin;  // in bytes from the line's beginning, which may lie behind it
  bool whole;
  bool any;

  __device__ word_of_line(unsigned index, unsigned phase, unsigned bytes)
      : begin(static_cast<int>(index * word_bytes) - static_cast<int>(phase)),
        whole(begin >= 0 && begin + static_cast<int>(word_bytes) <= static_cast<int>(bytes)),
        any(begin + static_cast<int>(word_bytes) > 0 && begin < static_cast<int>(bytes)) {}
};

__device__ inline unsigned phase_of(std::uintptr_t line) {
  return static_cast<unsigned>(line % word_bytes);
}

// Where the words of a row lie in the tile: those of a column in different banks for the threads,
// each of which reads as many rows as a word has units.
template <class Unit>
__device__ unsigned place_in_row(unsigned row, unsigned word) {
  return word ^ (row / units_per_word<Unit> % words_per_line);
}

// A line of the source to each row, at its own phase. The lines of a thread have one phase: their
// distance is a multiple of a word's size. All its words are on their way before the first is put
// down.
template <class Unit>
__device__ void load_words(std::uint32_t* tile, tile_place const& at, tile_job const& job) {
  constexpr unsigned lines = most_side<Unit> / tile_lines;
  std::uintptr_t const first = step_by(at.source, threadIdx.y, job.source_b);
  word_of_line const mine(threadIdx.x, phase_of(first),
                          at.extent_a * static_cast<unsigned>(sizeof(Unit)));
  std::uint32_t words[lines];
  ROC_UNROLL
  for (unsigned i = 0; i < lines; ++i) {
    unsigned const b = threadIdx.y + i * tile_lines;
    if (mine.whole && b < at.extent_b) {
      words[i] = *reinterpret_cast<std::uint32_t const*>(
          step_by(first, i * tile_lines, job.source_b) + static_cast<std::uintptr_t>(mine.begin));
    }
  }
  if (mine.any && !mine.whole) {
    // The ends of lines: nothing outside of them is touched.
    for (unsigned i = 0; i < lines; ++i) {
      if (threadIdx.y + i * tile_lines >= at.extent_b) break;
      std::uintptr_t const line = step_by(first, i * tile_lines, job.source_b);
      int const end = static_cast<int>(at.extent_a * sizeof(Unit));
      words[i] = 0;
      for (unsigned byte = 0; byte < word_bytes; byte += sizeof(Unit)) {
        int const place = mine.begin + static_cast<int>(byte);
        if (place < 0 || place >= end) continue;
        auto const unit = static_cast<std::uint32_t>(
            *reinterpret_cast<Unit const*>(line + static_cast<std::uintptr_t>(place)));
        words[i] |= unit << (8 * byte);
      }
    }
  }
  if (!mine.any) return;
  ROC_UNROLL
  for (unsigned i = 0; i < lines; ++i) {
    unsigned const b = threadIdx.y + i * tile_lines;
    if (b < at.extent_b) {
      tile[b * words_per_line + place_in_row<Unit>(b, threadIdx.x)] = words[i];
    }
  }
}

// A column of the tile to each line of the destination; those of a thread have one phase.
template <class Unit>
__device__ void store_words(std::uint32_t const* tile, tile_place const& at, tile_job const& job) {
  constexpr unsigned per_word = units_per_word<Unit>;
  constexpr auto size = static_cast<unsigned>(sizeof(Unit));
  std::uintptr_t const first = step_by(at.destination, threadIdx.y, job.destination_a);
  word_of_line const mine(threadIdx.x, phase_of(first), at.extent_b * size);
  if (!mine.any) return;
  int const row = mine.begin / static_cast<int>(size);
  // Of the rows that the units of the word come from.
  unsigned bases[per_word];
  unsigned turns[per_word];
  unsigned phases[per_word];
  ROC_UNROLL
  for (unsigned i = 0; i < per_word; ++i) {
    auto const b = static_cast<unsigned>(row + static_cast<int>(i));
    bases[i] = b * words_per_line * word_bytes;
    turns[i] = place_in_row<Unit>(b, 0) * word_bytes;
    phases[i] = phase_of(step_by(at.source, b, job.source_b));
  }
  auto const* const bytes = reinterpret_cast<std::uint8_t const*>(tile);
  for (unsigned a = threadIdx.y; a < at.extent_a; a += tile_lines) {
    std::uintptr_t const to = step_by(at.destination, a, job.destination_a) +
                              static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(mine.begin));
    auto const unit_at = [&](unsigned i) {
      return *reinterpret_cast<Unit const*>(bytes + bases[i] + ((a * size + phases[i]) ^ turns[i]));
    };
    if (mine.whole) {
      std::uint32_t word = 0;
      ROC_UNROLL
      for (unsigned i = 0; i < per_word; ++i) {
        word |= static_cast<std::uint32_t>(unit_at(i)) << (8 * size * i);
      }
      *reinterpret_cast<std::uint32_t*>(to) = word;
      continue;
    }
    for (unsigned i = 0; i < per_word; ++i) {
      int const b = row + static_cast<int>(i);
      if (b >= 0 && b < static_cast<int>(at.extent_b)) {
        *reinterpret_cast<Unit*>(to + i * size) = unit_at(i);
      }
    }
  }
}

template <class Unit>
__global__ void word_tile_kernel(tile_job job) {
  __shared__ std::uint32_t tile[most_side<Unit> * words_per_line];
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    tile_place const at = place_of(job, block);
    load_words<Unit>(tile, at, job);
    __syncthreads();
    store_words<Unit>(tile, at, job);
    __syncthreads();
  }
}

template <class Unit>
hipError_t launch_words(tile_job const& job, hipStream_t stream) {
  dim3 const grid(job.blocks < most_tile_blocks ? job.blocks : most_tile_blocks);
  word_tile_kernel<Unit><<<grid, dim3(words_per_line, tile_lines), 0, stream>>>(job);
  return hipGetLastError();
}

hipError_t launch_word_tile(tile_job const& job, std::size_t unit, hipStream_t stream) {
  switch (unit) {
    case 1: return launch_words<std::uint8_t>(job, stream);
    case 2: return launch_words<std::uint16_t>(job, stream);
    default: return hipErrorInvalidValue;
  }
}

#endif

ROC_TWIN(word_tile_kernel<std::uint8_t>);
ROC_TWIN(word_tile_kernel<std::uint16_t>);

}  // namespace roc::kernels

#else

#include <roc/native/elementwise.hpp>

namespace roc::kernels {

// A host compiler has no blocks of threads: each tile is one thread's.
hipError_t launch_word_tile(tile_job const& job, std::size_t unit, hipStream_t stream) {
  using native_detail::launch_elementwise;
  switch (unit) {
    case 1: return launch_elementwise(copy_tile<std::uint8_t>{job}, job.blocks, stream);
    case 2: return launch_elementwise(copy_tile<std::uint16_t>{job}, job.blocks, stream);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace roc::kernels

#endif
