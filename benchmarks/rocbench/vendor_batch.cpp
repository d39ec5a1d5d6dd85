// SPDX-License-Identifier: MIT
// CUDA 12.8 introduced cudaMemcpyBatchAsync; CUDA 13 changed its signature. HIP's counterpart (7.1)
// rejects attributes in 7.2 and fails above 8192 copies, so it is not measured.
#include "vendor_batch.hpp"

#include <stdexcept>

namespace rocbench {

#if ROCARRAY_PLATFORM_NVIDIA && CUDART_VERSION >= 12080

char const* vendor_batch_function() noexcept { return "cudaMemcpyBatchAsync"; }

void vendor_batch(batch_arguments& copies, hipStream_t stream) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
#if CUDART_VERSION >= 13000
  cudaError_t const result =
      cudaMemcpyBatchAsync(copies.destinations.data(), copies.sources.data(), copies.bytes.data(),
                           copies.destinations.size(), &attributes, &first, 1, stream);
#else
  std::size_t failed = 0;
  cudaError_t const result = cudaMemcpyBatchAsync(
      copies.destinations.data(), const_cast<void**>(copies.sources.data()), copies.bytes.data(),
      copies.destinations.size(), &attributes, &first, 1, &failed, stream);
#endif
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

#else

char const* vendor_batch_function() noexcept { return nullptr; }

void vendor_batch(batch_arguments&, hipStream_t) {
  throw std::runtime_error("the platform has no batched copy function");
}

#endif

}  // namespace rocbench
