// SPDX-License-Identifier: MIT
// CUDA 12.8 came with cudaMemcpyBatchAsync, CUDA 13 with another signature of it. HIP's of the same
// kind (7.1) refuses attributes in 7.2 and fails above 8192 copies: there is nothing to measure
// yet.
#include "vendor_batch.hpp"

#include <stdexcept>

namespace rocbench {

#if ROCARRAY_PLATFORM_NVIDIA && CUDART_VERSION >= 12080

char const* vendor_batch_call() noexcept { return "cudaMemcpyBatchAsync"; }

void vendor_batch(batch_list& list, hipStream_t stream) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
#if CUDART_VERSION >= 13000
  cudaError_t const result =
      cudaMemcpyBatchAsync(list.to.data(), list.from.data(), list.bytes.data(), list.to.size(),
                           &attributes, &first, 1, stream);
#else
  std::size_t failed = 0;
  cudaError_t const result = cudaMemcpyBatchAsync(
      list.to.data(), const_cast<void**>(list.from.data()), list.bytes.data(), list.to.size(),
      &attributes, &first, 1, &failed, stream);
#endif
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

#else

char const* vendor_batch_call() noexcept { return nullptr; }

void vendor_batch(batch_list&, hipStream_t) {
  throw std::runtime_error("this platform has no call for many copies");
}

#endif

}  // namespace rocbench
