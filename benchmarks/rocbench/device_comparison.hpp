// SPDX-License-Identifier: MIT
// The result that comparing kernels write to device memory.
#pragma once

#include <atomic>

#include <roc/config.hpp>

#include "platform/hip.hpp"

namespace rocbench {

/// The host sets all bits before a comparison. If the kernel did not run, `compared` keeps them.
struct device_comparison {
  unsigned long long first_mismatch;  ///< smallest index with a wrong value; all ones: none
  unsigned long long compared;        ///< number of elements compared
};

/// Sets `*minimum` to the smaller of its value and `value`, atomically with respect to other calls.
ROCARRAY_HOST_DEVICE inline void atomic_minimum(unsigned long long* minimum,
                                                unsigned long long value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  atomicMin(minimum, value);
#else
  std::atomic_ref<unsigned long long> const shared(*minimum);
  auto current = shared.load();
  while (value < current && !shared.compare_exchange_weak(current, value)) {
  }
#endif
}

}  // namespace rocbench
