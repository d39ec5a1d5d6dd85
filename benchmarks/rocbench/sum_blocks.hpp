// SPDX-License-Identifier: MIT
// Sums of what a functor gives for each index: one for each block of threads, always in the same
// order. Included by files for the device compiler only.
#pragma once

#include <cstddef>

#include "each_element.hpp"

namespace rocbench {

/// What a block of a sum takes, by one thread, in the order that a CPU likes best.
template <class F>
ROCARRAY_HOST_DEVICE double sum_of_block(F const& f, std::size_t count, std::size_t block,
                                    std::size_t blocks) {
  double sum = 0;
  for (std::size_t begin = block * block_threads; begin < count; begin += blocks * block_threads) {
    std::size_t const end = begin + block_threads < count ? begin + block_threads : count;
    for (std::size_t i = begin; i < end; ++i) sum += f(i);
  }
  return sum;
}

#if ROCARRAY_KERNEL_HOST_STUB

// Threads run one after the other there and share nothing: the first of a block does it all.
template <class F, class Out>
__global__ void sum_blocks(F f, std::size_t count, Out sums) {
  std::size_t const block = blockIdx.x;
  if (threadIdx.x == 0) sums(block) = sum_of_block(f, count, block, gridDim.x);
}

#elif defined(__CUDACC__) || defined(__HIP__)

template <class F, class Out>
__global__ void __launch_bounds__(1024) sum_blocks(F f, std::size_t count, Out sums) {
  __shared__ double shared[block_threads];
  std::size_t const block = blockIdx.x;
  std::size_t const step = std::size_t{gridDim.x} * block_threads;
  std::size_t i = block * block_threads + threadIdx.x;
  double sum = 0;
  // Several elements are on their way before the first is added.
  for (; i + 3 * step < count; i += 4 * step) {
    double const several[] = {f(i), f(i + step), f(i + 2 * step), f(i + 3 * step)};
    for (double const each : several) sum += each;
  }
  for (; i < count; i += step) sum += f(i);
  shared[threadIdx.x] = sum;
  for (unsigned half = block_threads / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums(block) = shared[0];
}

template <class F, class Out>
hipError_t launch_sum(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                      hipStream_t stream) {
  dim3 const grid(static_cast<unsigned>(blocks));
  sum_blocks<<<grid, dim3(block_threads), 0, stream>>>(f, count, sums);
  return hipGetLastError();
}

#else

template <class F, class Out>
struct sum_block {
  F f;
  std::size_t count;
  std::size_t blocks;
  Out sums;
  void operator()(std::size_t block) const { sums(block) = sum_of_block(f, count, block, blocks); }
};

template <class F, class Out>
hipError_t launch_sum(F const& f, std::size_t count, Out const& sums, std::size_t blocks,
                      hipStream_t stream) {
  return roc::native_detail::launch_elementwise(sum_block<F, Out>{f, count, blocks, sums}, blocks,
                                                stream);
}

#endif

}  // namespace rocbench
