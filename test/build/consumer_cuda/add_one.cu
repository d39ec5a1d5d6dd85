// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include "add_one_kernel.cuh"
#include "add_one.hpp"

int add_one(int* data, int count, cudaStream_t stream) {
  add_one_kernel<<<1, 256, 0, stream>>>(data, count);
  if (check(cudaGetLastError()) != cudaSuccess) return 1;
  return check(cudaStreamSynchronize(stream)) == cudaSuccess ? 0 : 1;
}

int add_one(int* data, int count) { return add_one(data, count, nullptr); }
