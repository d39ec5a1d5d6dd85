// SPDX-License-Identifier: MIT
// Permutations in square tiles through the memory that a block shares: both sides are read and
// written along their own fastest axis.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/unroll.hpp"
#include "kernels/tile_job.hpp"
#include "platform/host/twin.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROC_KERNEL_TWIN

namespace roc::kernels {

#if ROC_KERNEL_TWIN

// Threads run one after the other there and share nothing: the first of a block does it all.
template <class Unit, bool Words>
__global__ void tile_kernel(tile_job job) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    copy_tile<Unit>{job}(block);
  }
}

#else

__device__ inline std::uintptr_t step_by(std::uintptr_t from, unsigned index, std::ptrdiff_t step) {
  return from + static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * step);
}

// How many lines of a tile a thread has a part in.
template <class Unit>
inline constexpr unsigned lines_per_thread = tile_side<Unit> / tile_lines;

// The lines of the source to the rows of the tile. All of a thread's words are on their way before
// the first is put down. Words: units smaller than 4 bytes lie side by side in lines that begin at
// multiples of 4 bytes, so that threads move whole words.
template <class Unit, bool Words>
__device__ void load_tile(Unit* tile, unsigned pitch, tile_place const& at, tile_job const& job) {
  using word = typename word_of<Unit, Words>::type;
  constexpr unsigned per_word = Words ? units_per_word<Unit> : 1;
  constexpr unsigned lines = lines_per_thread<Unit>;
  for (unsigned first = threadIdx.x * per_word; first < tile_side<Unit>; first += 32 * per_word) {
    word words[lines];
    bool const whole = first + per_word <= at.extent_a;
    std::uintptr_t const begin = step_by(at.source, first, job.source_a);
    ROC_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      unsigned const b = threadIdx.y + i * tile_lines;
      if (whole && b < at.extent_b) {
        words[i] = *reinterpret_cast<word const*>(step_by(begin, b, job.source_b));
      }
    }
    ROC_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      unsigned const b = threadIdx.y + i * tile_lines;
      if (whole && b < at.extent_b) {
        *reinterpret_cast<word*>(tile + b * pitch + first) = words[i];
      }
    }
    if (whole || !Words) continue;
    // The rest of a line, shorter than a word.
    for (unsigned b = threadIdx.y; b < at.extent_b; b += tile_lines) {
      for (unsigned a = first; a < at.extent_a; ++a) {
        tile[b * pitch + a] = *reinterpret_cast<Unit const*>(
            step_by(step_by(at.source, a, job.source_a), b, job.source_b));
      }
    }
  }
}

// A column of the tile to a line of the destination.
template <class Unit, bool Words>
__device__ void store_line(Unit const* column, unsigned pitch, std::uintptr_t line, unsigned extent,
                           std::ptrdiff_t step) {
  if constexpr (Words) {
    constexpr unsigned per_word = units_per_word<Unit>;
    unsigned const first = threadIdx.x * per_word;
    if (first + per_word <= extent) {
      std::uint32_t word = 0;
      for (unsigned i = 0; i < per_word; ++i) {
        auto const unit = static_cast<std::uint32_t>(column[(first + i) * pitch]);
        word |= unit << (8 * sizeof(Unit) * i);
      }
      *reinterpret_cast<std::uint32_t*>(line + first * sizeof(Unit)) = word;
      return;
    }
    for (unsigned i = first; i < extent; ++i) {
      *reinterpret_cast<Unit*>(line + i * sizeof(Unit)) = column[i * pitch];
    }
  } else {
    for (unsigned i = threadIdx.x; i < extent; i += 32) {
      *reinterpret_cast<Unit*>(step_by(line, i, step)) = column[i * pitch];
    }
  }
}

template <class Unit, bool Words>
__global__ void tile_kernel(tile_job job) {
  constexpr unsigned side = tile_side<Unit>;
  // Columns of the tile must not all lie in one bank.
  constexpr unsigned pitch = side + units_per_word<Unit>;
  alignas(16) __shared__ Unit tile[side * pitch];
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    tile_place const at = place_of(job, block, side);
    load_tile<Unit, Words>(tile, pitch, at, job);
    __syncthreads();
    for (unsigned a = threadIdx.y; a < at.extent_a; a += tile_lines) {
      store_line<Unit, Words>(tile + a, pitch, step_by(at.destination, a, job.destination_a),
                              at.extent_b, job.destination_b);
    }
    __syncthreads();
  }
}

template <class Unit, bool Words>
hipError_t launch_tiles(tile_job const& job, hipStream_t stream) {
  constexpr std::uint32_t most_blocks = 1u << 20;  // the grid's stride covers the rest
  dim3 const grid(job.blocks < most_blocks ? job.blocks : most_blocks);
  tile_kernel<Unit, Words><<<grid, dim3(32, tile_lines), 0, stream>>>(job);
  return hipGetLastError();
}

hipError_t launch_tile(tile_job const& job, std::size_t unit, bool words, hipStream_t stream) {
  switch (unit) {
    case 1:
      return words ? launch_tiles<std::uint8_t, true>(job, stream)
                   : launch_tiles<std::uint8_t, false>(job, stream);
    case 2:
      return words ? launch_tiles<std::uint16_t, true>(job, stream)
                   : launch_tiles<std::uint16_t, false>(job, stream);
    case 4: return launch_tiles<std::uint32_t, false>(job, stream);
    case 8: return launch_tiles<std::uint64_t, false>(job, stream);
    case 16: return launch_tiles<unit16, false>(job, stream);
    default: return hipErrorInvalidValue;
  }
}

#endif

ROC_TWIN(tile_kernel<std::uint8_t, true>);
ROC_TWIN(tile_kernel<std::uint8_t, false>);
ROC_TWIN(tile_kernel<std::uint16_t, true>);
ROC_TWIN(tile_kernel<std::uint16_t, false>);
ROC_TWIN(tile_kernel<std::uint32_t, false>);
ROC_TWIN(tile_kernel<std::uint64_t, false>);
ROC_TWIN(tile_kernel<unit16, false>);

}  // namespace roc::kernels

#else

namespace roc::kernels {

// A host compiler has no blocks of threads: each tile is one thread's.
hipError_t launch_tile(tile_job const& job, std::size_t unit, bool, hipStream_t stream) {
  using native_detail::launch_elementwise;
  switch (unit) {
    case 1: return launch_elementwise(copy_tile<std::uint8_t>{job}, job.blocks, stream);
    case 2: return launch_elementwise(copy_tile<std::uint16_t>{job}, job.blocks, stream);
    case 4: return launch_elementwise(copy_tile<std::uint32_t>{job}, job.blocks, stream);
    case 8: return launch_elementwise(copy_tile<std::uint64_t>{job}, job.blocks, stream);
    case 16: return launch_elementwise(copy_tile<unit16>{job}, job.blocks, stream);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace roc::kernels

#endif
