// SPDX-License-Identifier: MIT
// The kernel that calls a functor with every number of a range.
#pragma once

#include <cstddef>

#include <roc/config.hpp>
#include <roc/native.hpp>

#if defined(__CUDACC__) || defined(__HIP__)

namespace roc::native_detail {

/// Calls f(i) for every i in [0, count), on a one-dimensional grid of any size.
template <class F>
__global__ void elementwise(F f, std::size_t count) {
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    f(i);
  }
}

/// Enqueues f(i) for every i in [0, count) on `stream`. Does not block. Does nothing if `count` is
/// 0.
template <class F>
hipError_t launch_elementwise(F const& f, std::size_t count, hipStream_t stream) {
  constexpr unsigned threads = 256;
  constexpr std::size_t max_blocks = 1u << 20;  // each thread loops over the rest
  if (count == 0) return hipSuccess;
  std::size_t const blocks = (count + threads - 1) / threads;
  auto const grid = static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
  return launch_kernel(elementwise<F>, dim3(grid), dim3(threads), stream, f, count);
}

}  // namespace roc::native_detail

#elif defined(ROCARRAY_KERNEL_HOST_STUB) && ROCARRAY_KERNEL_HOST_STUB

namespace roc::native_detail {

/// Host stub of the kernel, for the fake HIP runtime: calls f(i) for every i in [0, count).
template <class F>
void elementwise(F f, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) f(i);
}

}  // namespace roc::native_detail

#else

#include <roc/detail/host_kernel.hpp>

namespace roc::native_detail {

/// Enqueues f(i) for every i in [0, count) on `stream`. A host compiler cannot compile kernels: the
/// library of the host platform runs the functor on the CPU; any other library returns an error.
template <class F>
hipError_t launch_elementwise(F const& f, std::size_t count, hipStream_t stream) {
  return static_cast<hipError_t>(
      detail::launch_on_host(f, count, reinterpret_cast<detail::native_stream*>(stream)));
}

}  // namespace roc::native_detail

#endif
