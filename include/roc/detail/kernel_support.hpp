// SPDX-License-Identifier: MIT
// Macros for declarations of device functions; replacements for parts of the standard library that
// kernels cannot use: an array and a check.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <source_location>

#include <roc/config.hpp>

#if ROCARRAY_KERNEL_HOST_STUB
#include <roc/native/host_block.hpp>
#endif

/// Begins the declaration of a function that only kernels call. Each shared object with kernels has
/// its own functions for a C++ compiler: see native/host_kernel_language.hpp.
#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_KERNEL_FUNCTION __device__
#else
#define ROCARRAY_KERNEL_FUNCTION [[gnu::visibility("hidden")]]
#endif

namespace roc::detail {

/// The location of a call in a kernel, for the messages of the host platform.
#if defined(__CUDACC__) || defined(__HIP__)
struct call_location {
  ROCARRAY_HOST_DEVICE static constexpr call_location current() { return {}; }
};
#else
using call_location = std::source_location;
#endif

/// An array of fixed size that kernels can index. The members of std::array are no device
/// functions for nvcc.
template <class T, std::size_t N>
struct kernel_array {
  T values[N == 0 ? 1 : N] = {};

  constexpr kernel_array() = default;
  constexpr kernel_array(std::array<T, N> const& other) {
    for (std::size_t i = 0; i != N; ++i) values[i] = other[i];
  }
  constexpr std::array<T, N> to_array() const {
    std::array<T, N> result{};
    for (std::size_t i = 0; i != N; ++i) result[i] = values[i];
    return result;
  }

  ROCARRAY_HOST_DEVICE constexpr T& operator[](std::size_t i) { return values[i]; }
  ROCARRAY_HOST_DEVICE constexpr T const& operator[](std::size_t i) const { return values[i]; }
};

/// True if the kernels of this file check indices. Templates that check take it as an argument, so
/// that their names differ and files with and without checks can be linked together.
inline constexpr bool check_bounds = ROCARRAY_CHECK_BOUNDS != 0;

/// Stops the kernel with an error. Prints `problem` first, except on AMD.
ROCARRAY_HOST_DEVICE inline void stop_kernel([[maybe_unused]] char const* problem) {
#if defined(__CUDA_ARCH__)
  std::printf("rocarray: %s in a kernel\n", problem);
  __trap();
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_trap();  // old compilers of HIP have no printf in headers other than their own
#else
#if ROCARRAY_KERNEL_HOST_STUB
  if (auto* const block = host_kernels::block_of_thread) block->fail(problem, {});
#endif
  std::fprintf(stderr, "rocarray: %s in a kernel\n", problem);
  std::abort();
#endif
}

/// Stops the kernel if `Checked` is true and `condition` is false.
template <bool Checked>
ROCARRAY_HOST_DEVICE constexpr void check_in_kernel([[maybe_unused]] bool condition,
                                                    [[maybe_unused]] char const* problem) {
  if constexpr (Checked) {
    if (!condition) stop_kernel(problem);
  }
}

}  // namespace roc::detail
