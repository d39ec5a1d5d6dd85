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

/// Enqueues f(i, j, …) for the indices of a box on `stream`. Does not block. The extents are not 0,
/// and their product is at most PTRDIFF_MAX.
template <class Block, class F, std::size_t N>
hipError_t launch_for_each(F const& f, shape<N> const& begin, shape<N> const& extents,
                           hipStream_t stream) {
  auto const launch = [&](shape<N> const& part_begin, shape<N> const& part_extents) {
    auto const grid = detail::make_index_grid<Block>(part_begin, part_extents);
    return launch_kernel(for_each_index<Block, N, F>, dim3(grid.template blocks<Block>()),
                         dim3(detail::threads_of_block<Block>), stream, f, grid);
  };
  return detail::for_each_grid_part<hipError_t>(begin, extents, launch);
}

}  // namespace roc::native_detail

#endif
