// SPDX-License-Identifier: MIT
// The product of two matrices: each block computes one tile of it, from tiles in shared memory.
#pragma once

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

inline constexpr unsigned tile_side = 16;

/// c = a * b, with blocks of tile_side x tile_side threads. Matrices of any size and layout.
__global__ void multiply(roc::device_view<float const, 2> a, roc::device_view<float const, 2> b,
                         roc::device_view<float, 2> c) {
  __shared__ float tile_a[tile_side][tile_side + 1];  // + 1: no conflicts of banks
  __shared__ float tile_b[tile_side][tile_side + 1];
  unsigned const x = threadIdx.x;
  unsigned const y = threadIdx.y;
  std::size_t const i = blockIdx.y * tile_side + y;
  std::size_t const j = blockIdx.x * tile_side + x;
  float sum = 0;
  for (std::size_t begin = 0; begin < a.extent(1); begin += tile_side) {
    bool const in_a = i < a.extent(0) && begin + x < a.extent(1);
    bool const in_b = begin + y < b.extent(0) && j < b.extent(1);
    tile_a[y][x] = in_a ? a(i, begin + x) : 0.0f;
    tile_b[y][x] = in_b ? b(begin + y, j) : 0.0f;
    __syncthreads();  // the tiles are complete
    for (unsigned k = 0; k < tile_side; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();  // no thread reads them any more
  }
  if (i < c.extent(0) && j < c.extent(1)) c(i, j) = sum;
}
