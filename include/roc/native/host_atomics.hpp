// SPDX-License-Identifier: MIT
// The atomic functions of kernels, for a C++ compiler. They are relaxed, as on a device, and return
// the old value.
#pragma once

#include <concepts>
#include <type_traits>

namespace roc::host_kernels {

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
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T next = change(old);
    if (__atomic_compare_exchange(address, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

}  // namespace roc::host_kernels

template <roc::host_kernels::atomic_number T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  if constexpr (std::integral<T>) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  } else {
    return roc::host_kernels::atomic_update(address, [=](T old) { return old + value; });
  }
}
template <roc::host_kernels::atomic_integer T>
T atomicSub(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
template <roc::host_kernels::atomic_integer T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}
template <roc::host_kernels::atomic_integer T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <roc::host_kernels::atomic_integer T>
T atomicXor(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
template <roc::host_kernels::atomic_number T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return roc::host_kernels::atomic_update(address, [=](T old) { return value < old ? value : old; });
}
template <roc::host_kernels::atomic_number T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return roc::host_kernels::atomic_update(address, [=](T old) { return old < value ? value : old; });
}
template <roc::host_kernels::atomic_number T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}
template <roc::host_kernels::atomic_integer T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
/// Counts up to `limit`, then from 0.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return roc::host_kernels::atomic_update(address,
                                      [=](unsigned old) { return old >= limit ? 0U : old + 1; });
}
/// Counts down to 0, then from `limit`.
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return roc::host_kernels::atomic_update(
      address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
