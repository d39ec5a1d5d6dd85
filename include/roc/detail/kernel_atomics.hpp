// SPDX-License-Identifier: MIT
// Relaxed atomic operations on global memory, and fences, of device scope. HIP and CUDA have no
// functions for loads and stores.
//
// For the host, the loads and stores have the order that the fences add on a device:
// ThreadSanitizer does not know fences.
#pragma once

#include <roc/config.hpp>

namespace roc::detail {

/// The type of the values.
using kernel_word = unsigned long long;

/// Returns the value at `address`. Orders no other access: see acquire_fence.
ROCARRAY_HOST_DEVICE inline kernel_word load_relaxed(kernel_word const* address) {
#if defined(__CUDA_ARCH__)
  return *static_cast<kernel_word const volatile*>(address);
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
#endif
}

/// Writes the value at `address`. Orders no other access: see release_fence.
ROCARRAY_HOST_DEVICE inline void store_relaxed(kernel_word* address, kernel_word value) {
#if defined(__CUDA_ARCH__)
  *static_cast<kernel_word volatile*>(address) = value;
#elif defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
#endif
}

/// Orders later accesses of the thread after its earlier calls of load_relaxed.
ROCARRAY_HOST_DEVICE inline void acquire_fence() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
#elif defined(__CUDA_ARCH__)
  __threadfence();
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
#endif
}

/// Orders earlier accesses of the thread before its later calls of store_relaxed.
ROCARRAY_HOST_DEVICE inline void release_fence() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
#elif defined(__CUDA_ARCH__)
  __threadfence();
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
#endif
}

/// Writes `value` and returns true if the value at `address` is `expected`; otherwise returns
/// false. Orders no other access.
ROCARRAY_HOST_DEVICE inline bool compare_exchange(kernel_word* address, kernel_word expected,
                                                  kernel_word value) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(address, expected, value) == expected;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_compare_exchange_strong(address, &expected, value, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
#endif
}

}  // namespace roc::detail
