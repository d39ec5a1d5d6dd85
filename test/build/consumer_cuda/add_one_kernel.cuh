// SPDX-License-Identifier: MIT
#pragma once

__global__ inline void add_one_kernel(int* data, int count) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] += 1;
}

inline cudaError_t check(cudaError_t error) { return error; }
