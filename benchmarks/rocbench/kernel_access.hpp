// SPDX-License-Identifier: MIT
// The experiment of host memory that kernels use where it lies, or that moves to them by itself.
#pragma once

#include <cstddef>
#include <memory>

#include "cases.hpp"
#include "experiment.hpp"

namespace rocbench {

enum class kernel_access : unsigned char {
  mapped_read,       ///< a kernel copies from mapped memory to the device's
  mapped_write,      ///< a kernel copies from the device's memory to mapped memory
  managed_fault,     ///< a kernel copies from managed memory that the host touched last
  managed_prefetch,  ///< such memory is moved to the device, before anything uses it
};

/// `bytes` are rounded down to whole pieces of 16, one at least. The library's way takes views and
/// roc::prefetch, the raw one hipHostGetDevicePointer, pointers and hipMemPrefetchAsync.
///
/// Managed memory lies on the host when a run begins and is on the device when it ends: runs are
/// timed one by one, by the host's clock, with the wait. Throws not_possible where the device
/// cannot do it, and where a quarter of its free memory is less than was asked for.
std::unique_ptr<experiment> make_kernel_access(kernel_access how, caller by, std::size_t bytes);

}  // namespace rocbench
