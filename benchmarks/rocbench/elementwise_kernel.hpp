// SPDX-License-Identifier: MIT
// A kernel that calls a functor once per element, and functors shared by several kernels. Include
// this header only from .hip files.
#pragma once

#include <cstddef>

#include <roc/native/elementwise.hpp>

#include "platform/hip.hpp"
#include "platform/host/host_stub.hpp"

namespace rocbench {

/// A plain pointer with a view's call operator, so that one functor works with both.
template <class T>
struct pointer_accessor {
  T* data;
  ROCARRAY_HOST_DEVICE T& operator()(std::size_t i) const { return data[i]; }
};

template <class In, class Out>
struct copy_elements {
  In source;
  Out destination;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { destination(i) = source(i); }
};

constexpr unsigned block_threads = 1024;

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

template <class F>
__global__ void __launch_bounds__(1024) elementwise_kernel(F f, std::size_t count) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

#endif

#if defined(__CUDACC__) || defined(__HIP__)

// Enqueues f(i) for every i in [0, count). Returns the result of the launch.
template <class F>
hipError_t launch_elementwise(F const& f, std::size_t count, hipStream_t stream) {
  auto const blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  elementwise_kernel<F><<<dim3(blocks), dim3(block_threads), 0, stream>>>(f, count);
  return hipGetLastError();
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// A host compiler has no kernel launch: the library runs the functor on its threads.
template <class F>
hipError_t launch_elementwise(F const& f, std::size_t count, hipStream_t stream) {
  return roc::native_detail::launch_elementwise(f, count, stream);
}

#endif

}  // namespace rocbench
