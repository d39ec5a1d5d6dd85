// SPDX-License-Identifier: MIT
// Checks in kernels: off unless ROC_CHECK_BOUNDS is 1, since each costs a comparison per access.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <roc/config.hpp>

/// ROC_CHECK_BOUNDS=1, for a program and its kernels alike, makes views check indices in kernels: a
/// bad one prints a line and stops the kernel, which the stream's next synchronisation reports. In
/// host code, kernels of the host platform too, they are always checked.
#ifndef ROC_CHECK_BOUNDS
#define ROC_CHECK_BOUNDS 0
#endif

#if ROC_CHECK_BOUNDS
#define ROC_CHECK_IN_KERNEL(condition, problem) \
  ((condition) ? static_cast<void>(0) : ::roc::detail::stop_kernel(problem))

namespace roc::detail {

ROC_HOST_DEVICE inline void stop_kernel(char const* problem) {
  std::printf("rocarray: %s in a kernel\n", problem);
#if defined(__CUDA_ARCH__)
  __trap();
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_trap();
#else
  std::abort();
#endif
}

}  // namespace roc::detail

#else
#define ROC_CHECK_IN_KERNEL(condition, problem) static_cast<void>(condition)
#endif
