// SPDX-License-Identifier: MIT
// A kernel that sums f(i) over all indices, one partial sum per block, in a fixed order. Include
// this header only from .hip files.
#pragma once

#include <cstddef>

#include "elementwise_kernel.hpp"

namespace rocbench {

/// Returns the partial sum of one block, computed by one thread in cache-friendly order.
template <class F>
ROCARRAY_HOST_DEVICE double block_sum(F const& f, std::size_t count, std::size_t block,
                                      std::size_t blocks) {
  double sum = 0;
  for (std::size_t begin = block * block_threads; begin < count; begin += blocks * block_threads) {
    std::size_t const end = begin + block_threads < count ? begin + block_threads : count;
    for (std::size_t i = begin; i < end; ++i) sum += f(i);
  }
  return sum;
}

#if ROCARRAY_KERNEL_HOST_STUB

// Writes the partial sum of each block to sums(block). Host stubs run the threads of a block one
// after another, without shared memory: the first thread computes the sum of its block.
template <class F, class Out>
__global__ void reduce_blocks(F f, std::size_t count, Out sums) {
  std::size_t const block = blockIdx.x;
  if (threadIdx.x == 0) sums(block) = block_sum(f, count, block, gridDim.x);
}

#elif defined(__CUDACC__) || defined(__HIP__)

// Writes the partial sum of each block to sums(block).
template <class F, class Out>
__global__ void __launch_bounds__(1024) reduce_blocks(F f, std::size_t count, Out sums) {
  __shared__ double shared[block_threads];
  std::size_t const block = blockIdx.x;
  std::size_t const step = std::size_t{gridDim.x} * block_threads;
  std::size_t i = block * block_threads + threadIdx.x;
  double sum = 0;
  // Four independent loads are in flight before the first addition.
  for (; i + 3 * step < count; i += 4 * step) {
    double const values[] = {f(i), f(i + step), f(i + 2 * step), f(i + 3 * step)};
    for (double const value : values) sum += value;
  }
  for (; i < count; i += step) sum += f(i);
  shared[threadIdx.x] = sum;
  for (unsigned half = block_threads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums(block) = shared[0];
}

// Enqueues reduce_blocks. Returns the result of the launch.
template <class F, class Out>
hipError_t launch_block_sums(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                             hipStream_t stream) {
  dim3 const grid(static_cast<unsigned>(blocks));
  // clang-format off
  reduce_blocks<<<grid, dim3(block_threads), 0, stream>>>(f, count, sums);
  // clang-format on
  return hipGetLastError();
}

#else

template <class F, class Out>
struct block_sum_functor {
  F f;
  std::size_t count;
  std::size_t blocks;
  Out sums;
  void operator()(std::size_t block) const { sums(block) = block_sum(f, count, block, blocks); }
};

template <class F, class Out>
hipError_t launch_block_sums(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                             hipStream_t stream) {
  return roc::native_detail::launch_elementwise(block_sum_functor<F, Out>{f, count, blocks, sums},
                                                blocks, stream);
}

#endif

}  // namespace rocbench
