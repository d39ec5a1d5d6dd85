// SPDX-License-Identifier: MIT
// The atomic functions and fences of kernels, for a C++ compiler. Atomic functions are relaxed, as
// on a device, and return the old value.
//
// ThreadSanitizer does not know fences. For it, the atomic functions order memory, and a fence is
// an operation on one variable. It finds no race that a missing fence causes, and gives no false
// report about kernels with fences.
#pragma once

#include <concepts>
#include <type_traits>

namespace roc::host_kernels {

#if defined(__SANITIZE_THREAD__)
#define ROCARRAY_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROCARRAY_THREAD_SANITIZER 1
#endif
#endif
#if ROCARRAY_THREAD_SANITIZER
inline constexpr int atomic_order = __ATOMIC_ACQ_REL;
inline constexpr int atomic_load_order = __ATOMIC_ACQUIRE;
[[gnu::visibility("hidden")]] inline unsigned fence_variable = 0;
/// Orders memory between the threads of a kernel.
inline void fence() { __atomic_fetch_add(&fence_variable, 1U, __ATOMIC_ACQ_REL); }
#else
inline constexpr int atomic_order = __ATOMIC_RELAXED;
inline constexpr int atomic_load_order = __ATOMIC_RELAXED;
/// Orders memory between the threads of a kernel.
inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif
#undef ROCARRAY_THREAD_SANITIZER

/// The types that HIP's atomic functions take.
template <class T>
concept atomic_number =
    std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, long> ||
    std::same_as<T, unsigned long> || std::same_as<T, long long> ||
    std::same_as<T, unsigned long long> || std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept atomic_integer = atomic_number<T> && std::integral<T>;

/// Replaces the value at `address` by change(value), and returns the old value.
template <class T, class F>
T atomic_update(T* address, F change) {
  T old;
  __atomic_load(address, &old, atomic_load_order);
  for (;;) {
    T next = change(old);
    if (__atomic_compare_exchange(address, &old, &next, true, atomic_order, atomic_load_order)) {
      return old;
    }
  }
}

}  // namespace roc::host_kernels

template <roc::host_kernels::atomic_number T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  if constexpr (std::integral<T>) {
    return __atomic_fetch_add(address, value, roc::host_kernels::atomic_order);
  } else {
    return roc::host_kernels::atomic_update(address, [=](T old) { return old + value; });
  }
}
template <roc::host_kernels::atomic_integer T>
T atomicSub(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_sub(address, value, roc::host_kernels::atomic_order);
}
template <roc::host_kernels::atomic_integer T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_and(address, value, roc::host_kernels::atomic_order);
}
template <roc::host_kernels::atomic_integer T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_or(address, value, roc::host_kernels::atomic_order);
}
template <roc::host_kernels::atomic_integer T>
T atomicXor(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_xor(address, value, roc::host_kernels::atomic_order);
}
template <roc::host_kernels::atomic_number T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return roc::host_kernels::atomic_update(address,
                                          [=](T old) { return value < old ? value : old; });
}
template <roc::host_kernels::atomic_number T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return roc::host_kernels::atomic_update(address,
                                          [=](T old) { return old < value ? value : old; });
}
template <roc::host_kernels::atomic_number T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  T old;
  __atomic_exchange(address, &value, &old, roc::host_kernels::atomic_order);
  return old;
}
template <roc::host_kernels::atomic_integer T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  __atomic_compare_exchange_n(address, &expected, value, false, roc::host_kernels::atomic_order,
                              roc::host_kernels::atomic_load_order);
  return expected;
}
/// Counts up to `limit`, then from 0.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return roc::host_kernels::atomic_update(
      address, [=](unsigned old) { return old >= limit ? 0U : old + 1; });
}
/// Counts down to 0, then from `limit`.
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return roc::host_kernels::atomic_update(
      address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
