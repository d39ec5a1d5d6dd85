// SPDX-License-Identifier: MIT
// A histogram: each block counts in shared memory, then adds its counts to those of the others.
#pragma once

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

/// Adds the number of values of each bin to `counts`. The block has counts.size() elements of
/// dynamic shared memory. Values beyond the bins are not counted.
__global__ void count(roc::device_view<unsigned char const> values,
                      roc::device_view<unsigned> counts) {
  unsigned* const local = roc::dynamic_shared<unsigned>();
  auto const bins = static_cast<unsigned>(counts.size());
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values.size();
       i += step) {
    unsigned const bin = values(i);
    if (bin < bins) atomicAdd(&local[bin], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    atomicAdd(&counts(bin), local[bin]);
  }
}
