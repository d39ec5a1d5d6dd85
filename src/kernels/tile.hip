// SPDX-License-Identifier: MIT
// Permutations in square tiles through the memory that a block shares: both sides are read and
// written along their own fastest axis.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/unroll.hpp"
#include "kernels/tile_job.hpp"
#include "platform/host/host_stub.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

namespace roc::kernels {

#if ROCARRAY_KERNEL_HOST_STUB

// Threads run one after the other there and share nothing: the first of a block does it all.
template <class Unit>
__global__ void tile_kernel(tile_job job) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    copy_tile<Unit>{job}(block);
  }
}

#else

// The lines of the source to the rows of the tile. All of a thread's units are on their way before
// the first is put down.
template <class Unit>
__device__ void load_tile(Unit* tile, unsigned pitch, tile_place const& at, tile_job const& job) {
  constexpr unsigned lines = most_side<Unit> / tile_lines;
  for (unsigned a = threadIdx.x; a < at.extent_a; a += 32) {
    Unit units[lines];
    std::uintptr_t const begin = step_by(at.source, a, job.source_a);
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      unsigned const b = threadIdx.y + i * tile_lines;
      if (b < at.extent_b) {
        units[i] = *reinterpret_cast<Unit const*>(step_by(begin, b, job.source_b));
      }
    }
    ROCARRAY_UNROLL
    for (unsigned i = 0; i < lines; ++i) {
      unsigned const b = threadIdx.y + i * tile_lines;
      if (b < at.extent_b) tile[b * pitch + a] = units[i];
    }
  }
}

// A column of the tile to a line of the destination.
template <class Unit>
__device__ void store_line(Unit const* column, unsigned pitch, std::uintptr_t line,
                           tile_place const& at, tile_job const& job) {
  unit_range const own = stored_by<Unit>(job, at, line);
  for (unsigned i = own.begin + threadIdx.x; i < own.end; i += 32) {
    *reinterpret_cast<Unit*>(step_by(line, i, job.destination_b)) = column[i * pitch];
  }
}

template <class Unit>
__global__ void tile_kernel(tile_job job) {
  constexpr unsigned side = most_side<Unit>;
  // Columns of the tile must not all lie in one bank.
  constexpr unsigned pitch = side + units_per_word<Unit>;
  alignas(16) __shared__ Unit tile[side * pitch];
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    tile_place const at = place_of(job, block);
    load_tile(tile, pitch, at, job);
    __syncthreads();
    for (unsigned a = threadIdx.y; a < at.extent_a; a += tile_lines) {
      store_line(tile + a, pitch, step_by(at.destination, a, job.destination_a), at, job);
    }
    __syncthreads();
  }
}

template <class Unit>
hipError_t launch_tiles(tile_job const& job, hipStream_t stream) {
  dim3 const grid(job.blocks < most_tile_blocks ? job.blocks : most_tile_blocks);
  tile_kernel<Unit><<<grid, dim3(32, tile_lines), 0, stream>>>(job);
  return hipGetLastError();
}

hipError_t launch_tile(tile_job const& job, std::size_t unit, hipStream_t stream) {
  switch (unit) {
    case 1: return launch_tiles<std::uint8_t>(job, stream);
    case 2: return launch_tiles<std::uint16_t>(job, stream);
    case 4: return launch_tiles<std::uint32_t>(job, stream);
    case 8: return launch_tiles<std::uint64_t>(job, stream);
    case 16: return launch_tiles<unit16>(job, stream);
    default: return hipErrorInvalidValue;
  }
}

#endif

ROCARRAY_HOST_STUB(tile_kernel<std::uint8_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint16_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint32_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint64_t>);
ROCARRAY_HOST_STUB(tile_kernel<unit16>);

}  // namespace roc::kernels

#else

namespace roc::kernels {

// A host compiler has no blocks of threads: each tile is one thread's.
hipError_t launch_tile(tile_job const& job, std::size_t unit, hipStream_t stream) {
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
