// SPDX-License-Identifier: MIT
// The kernel that calls a functor for every element, one to a thread, and what functors are made
// of. Included by files for the device compiler only.
#pragma once

#include <cstddef>

#include <roc/native/elementwise.hpp>

#include "platform/hip.hpp"
#include "platform/host/host_stub.hpp"

namespace rocbench {

/// A plain pointer, with the index expression of a view.
template <class T>
struct pointer {
  T* data;
  ROCARRAY_HOST_DEVICE T& operator()(std::size_t i) const { return data[i]; }
};

template <class In, class Out>
struct copy_elements {
  In from;
  Out to;
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { to(i) = from(i); }
};

constexpr unsigned block_threads = 1024;

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

template <class F>
__global__ void __launch_bounds__(1024) each_element(F f, std::size_t count) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) f(i);
}

#endif

#if defined(__CUDACC__) || defined(__HIP__)

template <class F>
hipError_t launch_each(F const& f, std::size_t count, hipStream_t stream) {
  auto const blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  each_element<F><<<dim3(blocks), dim3(block_threads), 0, stream>>>(f, count);
  return hipGetLastError();
}

#elif !ROCARRAY_KERNEL_HOST_STUB

// A host compiler has no blocks of threads.
template <class F>
hipError_t launch_each(F const& f, std::size_t count, hipStream_t stream) {
  return roc::native_detail::launch_elementwise(f, count, stream);
}

#endif

}  // namespace rocbench
