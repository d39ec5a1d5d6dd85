// SPDX-License-Identifier: MIT
// The kernel of roc::for_each.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>
#include <roc/detail/index_grid.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/native.hpp>

#if defined(__CUDACC__) || defined(__HIP__) || \
    (defined(ROCARRAY_KERNEL_HOST_STUB) && ROCARRAY_KERNEL_HOST_STUB)

#include <roc/kernel.hpp>

namespace roc::native_detail {

/// Calls f with the indices of the thread, on a one-dimensional grid of grid.blocks<Block>()
/// blocks.
template <class Block, std::size_t N, class F>
__global__ void __launch_bounds__(detail::threads_of_block<Block>)
    for_each_index(F f, detail::index_grid<N> grid) {
  detail::kernel_array<std::uint32_t, N> first;
  if (detail::find_first_position<Block>(grid, blockIdx.x, threadIdx.x, &first))
    detail::visit_indices(f, grid, first);
}

}  // namespace roc::native_detail

#endif

#if defined(__CUDACC__) || defined(__HIP__)

namespace roc::native_detail {

/// Enqueues f(i, j, …) for the indices of the grid on `stream`. Does not block.
template <class Block, class F, std::size_t N>
hipError_t launch_for_each(F const& f, detail::index_grid<N> const& grid, hipStream_t stream) {
  return launch_kernel(for_each_index<Block, N, F>, dim3(grid.template blocks<Block>()),
                       dim3(detail::threads_of_block<Block>), stream, f, grid);
}

}  // namespace roc::native_detail

#endif
