// SPDX-License-Identifier: MIT
// A shared object with one kernel, which is built twice. The two kernels have the same address if
// the objects are loaded one after the other, but other names and shared memory.
#include <cstddef>

#include <roc/kernel.hpp>
#include <roc/launch.hpp>
#include <roc/roc.hpp>

#if ROCARRAY_TEST_PLUGIN == 1
#define ROCARRAY_TEST_KERNEL large_kernel
constexpr std::size_t static_count = 15'000;
constexpr std::size_t dynamic_bytes = 0;
#else
#define ROCARRAY_TEST_KERNEL small_kernel
constexpr std::size_t static_count = 10;
constexpr std::size_t dynamic_bytes = 60'000;  // too much beside the static memory of the other
#endif

__global__ void ROCARRAY_TEST_KERNEL(roc::device_view<int> out) {
  __shared__ int values[static_count];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out(threadIdx.x) = values[7 - threadIdx.x];
}

/// Launches the kernel in one block of 8 threads. Returns its address.
extern "C" [[gnu::visibility("default")]] void const* launch_plugin(roc::device_array<int> const& out) {
  roc::stream const stream;
  roc::launch(ROCARRAY_TEST_KERNEL, {1}, {8}, dynamic_bytes, stream, out.view());
  stream.synchronize();
  return reinterpret_cast<void const*>(&ROCARRAY_TEST_KERNEL);
}
