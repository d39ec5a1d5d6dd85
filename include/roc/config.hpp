// SPDX-License-Identifier: MIT
// The library's version, and the macros that its declarations use.
#pragma once

#if __cplusplus < 202002L
#error "rocarray needs C++20: compile with -std=c++20, or link rocarray::rocarray in CMake"
#elif defined(__clang__) && __clang_major__ < 15
#error \
    "rocarray needs Clang 15 or later: this one has no std::source_location; or use GCC 11 or later"
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 11
#error "rocarray needs GCC 11 or later, or Clang 15 or later"
#endif

#define ROCARRAY_VERSION_MAJOR 0
#define ROCARRAY_VERSION_MINOR 1
#define ROCARRAY_VERSION_PATCH 0

/// Marks what the shared library exports. Everything else is hidden.
#define ROCARRAY_API [[gnu::visibility("default")]]

/// Marks functions that kernels can call. Expands to nothing for a host compiler.
#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_HOST_DEVICE __host__ __device__
#else
#define ROCARRAY_HOST_DEVICE
#endif

/// Is 1 while a compiler generates code for the device, or for a kernel's host stub, and 0
/// otherwise. Such code cannot throw.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(ROCARRAY_KERNEL_HOST_STUB)
#define ROCARRAY_DEVICE_PASS 1
#else
#define ROCARRAY_DEVICE_PASS 0
#endif

/// Define it as 1 for a file with kernels to make device views check their indices there. The
/// default is 0, because each check costs a comparison per access. An index out of bounds then
/// stops the kernel (on NVIDIA after it prints a line), and the next synchronization of the stream
/// reports an error. Host code, which includes the kernels of the host platform, always checks.
#ifndef ROCARRAY_CHECK_BOUNDS
#define ROCARRAY_CHECK_BOUNDS 0
#endif
