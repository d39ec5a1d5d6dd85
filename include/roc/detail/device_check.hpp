// SPDX-License-Identifier: MIT
// Checks in kernels: off unless ROCARRAY_CHECK_BOUNDS is 1, since each costs a comparison per access.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <roc/config.hpp>

/// ROCARRAY_CHECK_BOUNDS=1, defined for a file of kernels, makes views check indices in them: a bad one
/// stops the kernel, on NVIDIA with a line of text, and the stream's next synchronisation reports
/// an error. In host code, kernels of the host platform too, indices are always checked.
#ifndef ROCARRAY_CHECK_BOUNDS
#define ROCARRAY_CHECK_BOUNDS 0
#endif

namespace roc::detail {

/// Part of the names of what depends on it, so that files with and without checks can be linked.
inline constexpr bool check_bounds = ROCARRAY_CHECK_BOUNDS != 0;

ROCARRAY_HOST_DEVICE inline void stop_kernel([[maybe_unused]] char const* problem) {
#if defined(__CUDA_ARCH__)
  std::printf("rocarray: %s in a kernel\n", problem);
  __trap();
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_trap();  // old compilers of HIP have no printf in a header that is not theirs
#else
  std::fprintf(stderr, "rocarray: %s in a kernel\n", problem);
  std::abort();
#endif
}

template <bool Checked>
ROCARRAY_HOST_DEVICE constexpr void check_in_kernel([[maybe_unused]] bool good,
                                               [[maybe_unused]] char const* problem) {
  if constexpr (Checked) {
    if (!good) stop_kernel(problem);
  }
}

}  // namespace roc::detail
