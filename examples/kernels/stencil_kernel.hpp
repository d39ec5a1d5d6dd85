// SPDX-License-Identifier: MIT
// A stencil: each block loads its values and the halo around them into shared memory.
#pragma once

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

inline constexpr unsigned stencil_radius = 3;
inline constexpr unsigned stencil_threads = 128;

/// Writes to each element the sum of those at most stencil_radius away; beyond the ends are zeros.
/// Blocks of stencil_threads threads.
__global__ void add_neighbors(roc::device_view<float const> in, roc::device_view<float> out) {
  __shared__ float tile[stencil_threads + 2 * stencil_radius];
  std::size_t const begin = std::size_t{blockIdx.x} * stencil_threads;  // of the block
  for (unsigned k = threadIdx.x; k < stencil_threads + 2 * stencil_radius; k += stencil_threads) {
    std::size_t const i = begin + k;  // of the element, plus the radius
    bool const is_inside = i >= stencil_radius && i - stencil_radius < in.size();
    tile[k] = is_inside ? in(i - stencil_radius) : 0.0f;
  }
  __syncthreads();
  std::size_t const i = begin + threadIdx.x;
  if (i >= out.size()) return;
  float sum = 0;
  for (unsigned k = 0; k <= 2 * stencil_radius; ++k) sum += tile[threadIdx.x + k];
  out(i) = sum;
}
