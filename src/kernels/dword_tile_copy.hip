// SPDX-License-Identifier: MIT
// Tiled copies of words of 1 and 2 bytes that are contiguous along the fastest axis of either side.
// They are moved in dwords of 4 bytes, wherever the lines begin.
#include <cstdint>

#include "kernels/launch.hpp"
#include "kernels/tile_job.hpp"
#include "platform/host/host_stub.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

#include "kernels/dword_tile.hpp"

namespace roc::kernels {

// The tile has 32 KiB for bytes and 16 KiB for words of 2 bytes. On NVIDIA six blocks fit on a
// multiprocessor if a thread has 40 registers. On AMD, 64 KiB of a compute unit hold 2 blocks (8
// waves of 64 threads) or 4 (16 waves); not measured there.
template <class Word>
__global__ void ROCARRAY_LAUNCH_BOUNDS(dwords_per_line* tile_lines, 6)
    dword_tile_kernel(tile_job job) {
  // Aligned so that an offset in the tile can be added to its address by bitwise or.
  alignas(256) __shared__ dword_tile<Word> tile;
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    tile_geometry const geometry = tile_of(job, block);
    load_tile(tile, geometry, job);
    __syncthreads();
    store_tile(tile, geometry, job);
    __syncthreads();
  }
}

#if !ROCARRAY_KERNEL_HOST_STUB

template <class Word>
hipError_t launch_dword_tiles(tile_job const& job, hipStream_t stream) {
  dim3 const grid(job.blocks < max_tile_blocks ? job.blocks : max_tile_blocks);
  return native_detail::launch_kernel(dword_tile_kernel<Word>, grid,
                                      dim3(dwords_per_line, tile_lines), stream, job);
}

hipError_t launch_dword_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream) {
  switch (word_bytes) {
    case 1: return launch_dword_tiles<std::uint8_t>(job, stream);
    case 2: return launch_dword_tiles<std::uint16_t>(job, stream);
    default: return hipErrorInvalidValue;
  }
}

#endif

ROCARRAY_HOST_STUB(dword_tile_kernel<std::uint8_t>);
ROCARRAY_HOST_STUB(dword_tile_kernel<std::uint16_t>);

}  // namespace roc::kernels

#else

#include <roc/native/elementwise.hpp>

namespace roc::kernels {

// A host compiler has no thread blocks: one thread copies each tile.
hipError_t launch_dword_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream) {
  using native_detail::launch_elementwise;
  switch (word_bytes) {
    case 1: return launch_elementwise(copy_tile<std::uint8_t>{job}, job.blocks, stream);
    case 2: return launch_elementwise(copy_tile<std::uint16_t>{job}, job.blocks, stream);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace roc::kernels

#endif
