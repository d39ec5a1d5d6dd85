// SPDX-License-Identifier: MIT
// Code that assumes warps of 32 lanes; __shfl_sync(0xffffffff, x, 0) in a comment does not.
#include <cuda_runtime.h>

#define WARP_SIZE 32
constexpr int kLanesPerWarp = warpSize;
constexpr int warp_size{32};

__device__ float sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return __shfl_sync(
      ~0u, value, 0);
}

__global__ void kernel(float* data, unsigned long long mask) {
  __shared__ float tile[32][33];
  int const lane = threadIdx.x & 31;
  int const warp = threadIdx.x / 32;
  int const column = blockIdx.x * 32 + threadIdx.y;
  unsigned const active = __ballot_sync(mask, lane < 5);
  int const count = __popc(__activemask());
  if (warpSize == 32) __syncwarp();
  int const half = threadIdx.x % 32;  // any warp size: index of a tile
  tile[lane][warp] = sum(data[column]) + active + count + half;
  data[column] = tile[threadIdx.y][threadIdx.x];
}
