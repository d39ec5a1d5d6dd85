// SPDX-License-Identifier: MIT
// Permutations of elements of 1 and 2 bytes whose lines are contiguous on both sides: in tiles, by
// words of 4 bytes wherever the lines begin.
#include <cstdint>

#include "kernels/launch.hpp"
#include "kernels/tile_job.hpp"
#include "platform/host/host_stub.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

#if !ROCARRAY_KERNEL_HOST_STUB
#include "kernels/word_tile_load.hpp"
#include "kernels/word_tile_store.hpp"
#endif

namespace roc::kernels {

#if ROCARRAY_KERNEL_HOST_STUB

// Threads run one after the other there and share nothing: the first of a block does it all.
template <class Unit>
__global__ void word_tile_kernel(tile_job job) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    copy_tile<Unit>{job}(block);
  }
}

#else

template <class Unit>
__global__ void word_tile_kernel(tile_job job) {
  __shared__ std::uint32_t tile[words_per_line * units_per_word<Unit> * tile_words];
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

ROCARRAY_HOST_STUB(word_tile_kernel<std::uint8_t>);
ROCARRAY_HOST_STUB(word_tile_kernel<std::uint16_t>);

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
