// SPDX-License-Identifier: MIT
// The library's version, and the attributes that its declarations carry.
#pragma once

#define ROCARRAY_VERSION_MAJOR 0
#define ROCARRAY_VERSION_MINOR 1
#define ROCARRAY_VERSION_PATCH 0

/// Marks what the shared library exports; everything else stays hidden in it.
#define ROCARRAY_API [[gnu::visibility("default")]]

/// Marks what kernels may call too. Means nothing to a compiler that knows no devices.
#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_HOST_DEVICE __host__ __device__
#else
#define ROCARRAY_HOST_DEVICE
#endif

/// 1 while a compiler makes code for the device, or for a kernel's twin on the CPU double of a
/// device: nothing can be thrown there.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(ROCARRAY_KERNEL_HOST_STUB)
#define ROCARRAY_DEVICE_PASS 1
#else
#define ROCARRAY_DEVICE_PASS 0
#endif
