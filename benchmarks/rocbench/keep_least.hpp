// SPDX-License-Identifier: MIT
// What kernels that compare tell the host. Included by files for the device compiler only.
#pragma once

#include <atomic>

#include <roc/config.hpp>

namespace rocbench {

/// Makes the number at `at` the lesser of itself and `value`, whoever else does so meanwhile.
ROCARRAY_HOST_DEVICE inline void keep_least(unsigned long long* at, unsigned long long value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  atomicMin(at, value);
#else
  std::atomic_ref<unsigned long long> const least(*at);
  auto known = least.load();
  while (value < known && !least.compare_exchange_weak(known, value)) {
  }
#endif
}

}  // namespace rocbench
