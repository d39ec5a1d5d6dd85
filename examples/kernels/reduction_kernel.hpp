// SPDX-License-Identifier: MIT
// A sum: the threads of a warp add with shuffles, the warps of a block in shared memory, the blocks
// with an atomic operation. Right for warps of 32 and of 64 lanes.
#pragma once

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

/// Adds all values to sum(0). Blocks of any whole number of warps.
__global__ void add_all(roc::device_view<unsigned const> values, roc::device_view<unsigned> sum) {
  __shared__ unsigned sums_of_warps[32];
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  unsigned mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values.size();
       i += step) {
    mine += values(i);
  }
  int const lanes = roc::warp_size();
  for (int delta = lanes / 2; delta != 0; delta /= 2) {
    mine += roc::shuffle_down(mine, static_cast<unsigned>(delta));
  }
  unsigned const warps = blockDim.x / static_cast<unsigned>(lanes);
  if (roc::lane_index() == 0) sums_of_warps[threadIdx.x / static_cast<unsigned>(lanes)] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned total = 0;
  for (unsigned i = 0; i < warps; ++i) total += sums_of_warps[i];
  atomicAdd(&sum(0), total);
}
