// SPDX-License-Identifier: MIT
// Launches of the kernels in smoke.hip with <<<>>>, as in a user's program.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include <roc/config.hpp>

namespace smoke {

struct alignas(16) scale {
  double factor;
  float* data;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    data[i] *= static_cast<float>(factor);
  }
};

// Each function launches one kernel and returns the result of hipGetLastError after the launch.
hipError_t launch_axpy(float a, float const* x, float* y, std::size_t n, hipStream_t stream);
hipError_t launch_add(int* data, int value, std::size_t n, hipStream_t stream);
hipError_t launch_number(unsigned* data, dim3 grid, dim3 block, hipStream_t stream);
hipError_t launch_scale(scale f, std::size_t n, hipStream_t stream);
hipError_t launch_with_shared_memory(int* data, unsigned threads, std::size_t bytes,
                                     hipStream_t stream);
hipError_t launch_without_host_stub(hipStream_t stream);

}  // namespace smoke
