// SPDX-License-Identifier: MIT
// Tiled copies through shared memory: the source is read along its fastest axis, and the
// destination is written along its own.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/host_stub.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

namespace roc::kernels {

// Loads lines of the source into rows of the tile. All loads of a thread are in flight before the
// first result is stored.
template <class Word>
__device__ void load_tile(Word* tile, unsigned pitch, tile_geometry const& geometry,
                          tile_job const& job) {
  constexpr unsigned lines = max_side<Word> / tile_lines;
  for (unsigned a = threadIdx.x; a < geometry.extent_a; a += 32) {
    Word words[lines];
    std::uintptr_t const begin = step_by(geometry.source, a, job.source_a);
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      unsigned const b = threadIdx.y + i * tile_lines;
      if (b < geometry.extent_b) {
        copy_word_to(words[i], *reinterpret_cast<Word const*>(step_by(begin, b, job.source_b)));
      }
    }
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      unsigned const b = threadIdx.y + i * tile_lines;
      if (b < geometry.extent_b) copy_word_to(tile[b * pitch + a], words[i]);
    }
  }
}

// Stores a column of the tile to the line of the destination at `line`.
template <class Word>
__device__ void store_line(Word const* column, unsigned pitch, std::uintptr_t line,
                           tile_geometry const& geometry, tile_job const& job) {
  word_range const range = stored_range<Word>(job, geometry, line);
  for (unsigned i = range.begin + threadIdx.x; i < range.end; i += 32) {
    *reinterpret_cast<Word*>(step_by(line, i, job.destination_b)) = column[i * pitch];
  }
}

template <class Word>
__global__ void tile_kernel(tile_job job) {
  constexpr unsigned side = max_side<Word>;
  // Padded by at least a dword, so that the words of a column are in different banks.
  constexpr unsigned pitch = side + words_per_dword<Word>;
  alignas(16) __shared__ Word tile[side * pitch];
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    tile_geometry const geometry = tile_of(job, block);
    load_tile(tile, pitch, geometry, job);
    __syncthreads();
    for (unsigned a = threadIdx.y; a < geometry.extent_a; a += tile_lines) {
      store_line(tile + a, pitch, step_by(geometry.destination, a, job.destination_a), geometry,
                 job);
    }
    __syncthreads();
  }
}

#if !ROCARRAY_KERNEL_HOST_STUB

template <class Word>
hipError_t launch_tiles(tile_job const& job, hipStream_t stream) {
  dim3 const grid(job.blocks < max_tile_blocks ? job.blocks : max_tile_blocks);
  return native_detail::launch_kernel(tile_kernel<Word>, grid, dim3(32, tile_lines), stream, job);
}

hipError_t launch_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream) {
  switch (word_bytes) {
    case 1: return launch_tiles<std::uint8_t>(job, stream);
    case 2: return launch_tiles<std::uint16_t>(job, stream);
    case 4: return launch_tiles<std::uint32_t>(job, stream);
    case 8: return launch_tiles<std::uint64_t>(job, stream);
    case 16: return launch_tiles<vector_word>(job, stream);
    default: return hipErrorInvalidValue;
  }
}

#endif

ROCARRAY_HOST_STUB(tile_kernel<std::uint8_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint16_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint32_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint64_t>);
ROCARRAY_HOST_STUB(tile_kernel<vector_word>);

}  // namespace roc::kernels

#else

namespace roc::kernels {

// A host compiler has no thread blocks: one thread copies each tile.
hipError_t launch_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream) {
  using native_detail::launch_elementwise;
  switch (word_bytes) {
    case 1: return launch_elementwise(copy_tile<std::uint8_t>{job}, job.blocks, stream);
    case 2: return launch_elementwise(copy_tile<std::uint16_t>{job}, job.blocks, stream);
    case 4: return launch_elementwise(copy_tile<std::uint32_t>{job}, job.blocks, stream);
    case 8: return launch_elementwise(copy_tile<std::uint64_t>{job}, job.blocks, stream);
    case 16: return launch_elementwise(copy_tile<vector_word>{job}, job.blocks, stream);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace roc::kernels

#endif
