// SPDX-License-Identifier: MIT
// The experiment of kernels that access mapped or managed memory.
#pragma once

#include <cstddef>
#include <memory>

#include "benchmark_case.hpp"
#include "experiment.hpp"

namespace rocbench {

enum class kernel_access : unsigned char {
  mapped_read,       ///< a kernel copies from mapped memory to device memory
  mapped_write,      ///< a kernel copies from device memory to mapped memory
  managed_fault,     ///< a kernel copies from managed memory that resides on the host
  managed_prefetch,  ///< managed memory is prefetched from the host to the device
};

/// Returns an experiment of `bytes` bytes, rounded down to a multiple of 16, at least 16. The
/// library API uses views and roc::prefetch; the raw API uses hipHostGetDevicePointer, pointers and
/// hipMemPrefetchAsync.
///
/// Managed memory resides on the host before a run and on the device after it. Each run is
/// therefore prepared anew and timed by the wall clock, including synchronization. Throws
/// case_not_supported if the device lacks the feature, or if managed memory of this size would
/// exceed a quarter of the free device memory.
std::unique_ptr<experiment> make_kernel_access_experiment(kernel_access access, api_kind api,
                                                          std::size_t bytes);

}  // namespace rocbench
