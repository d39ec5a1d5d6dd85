// SPDX-License-Identifier: MIT
// Names that hipify-perl cannot translate; cudaInAComment is not one of them.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "cuda_own.cuh"

#define CUDA_OWN_CHECK(call) (call)

__global__ void kernel(int* lanes) {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
#ifdef __CUDA_ARCH__
  lanes[threadIdx.x] = lane;
#endif
}

char const* name() { return "cudaInAString"; }

void f(int* lanes) {
  CUDA_OWN_CHECK(cudaNameOfNextYear(lanes));
  cuOwn(lanes);
  CUDA_OWN_CHECK(cudaFree(lanes));
}
