// SPDX-License-Identifier: MIT
// Compiled twice: by hipcc into the program, and by the host compiler into a host stub library.
#if !defined(ROCARRAY_KERNEL_HOST_STUB)
#include <hip/hip_runtime.h>
#endif

#include "smoke.hpp"

#include "platform/host/host_stub.hpp"

namespace smoke {

__global__ void axpy(float a, float const* x, float* y, std::size_t n) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
ROCARRAY_HOST_STUB(axpy);

template <class T, int Sign>
__global__ void add(T* data, T value, std::size_t n) {
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    data[i] += Sign * value;
  }
}
ROCARRAY_HOST_STUB(add<int, -1>);

/// Writes each thread's number in the grid to the element of that index.
__global__ void number(unsigned* data) {
  unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  data[i] = i;
}
ROCARRAY_HOST_STUB(number);

template <class F>
__global__ void elementwise(F f, std::size_t n) {
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}
ROCARRAY_ELEMENTWISE_HOST_STUB(scale);

/// Has 40,000 bytes of static shared memory.
__global__ void use_shared_memory(int* data) {
  __shared__ int values[10'000];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  data[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
ROCARRAY_HOST_STUB(use_shared_memory);

__global__ void without_host_stub() {}

#if !defined(ROCARRAY_KERNEL_HOST_STUB)

hipError_t launch_axpy(float a, float const* x, float* y, std::size_t n, hipStream_t stream) {
  axpy<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(a, x, y, n);
  return hipGetLastError();
}

hipError_t launch_add(int* data, int value, std::size_t n, hipStream_t stream) {
  add<int, -1><<<4, 64, 0, stream>>>(data, value, n);
  return hipGetLastError();
}

hipError_t launch_number(unsigned* data, dim3 grid, dim3 block, hipStream_t stream) {
  number<<<grid, block, 0, stream>>>(data);
  return hipGetLastError();
}

hipError_t launch_scale(scale f, std::size_t n, hipStream_t stream) {
  elementwise<<<2, 64, 0, stream>>>(f, n);
  return hipGetLastError();
}

hipError_t launch_with_shared_memory(int* data, unsigned threads, std::size_t bytes,
                                     hipStream_t stream) {
  use_shared_memory<<<1, threads, bytes, stream>>>(data);
  return hipGetLastError();
}

hipError_t launch_without_host_stub(hipStream_t stream) {
  without_host_stub<<<1, 1, 0, stream>>>();
  return hipGetLastError();
}

#endif

}  // namespace smoke
