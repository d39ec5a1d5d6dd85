// SPDX-License-Identifier: MIT
// Enqueues kernels on streams.
#pragma once

#include <functional>

#include "platform/host/access_checker.hpp"
#include "platform/host/api.hpp"

namespace roc::host_hip {

/// Enqueues a call of `kernel`, which may access the memory of the stream's device, and that of the
/// peers to which the device has access now. (Only ROCARRAY_HOST_PROTECT prevents other accesses.)
/// Returns hipErrorInvalidHandle if the stream is invalid.
hipError_t enqueue_kernel(hipStream_t stream, std::function<void()> kernel);

/// Records for the access checker that host functions enqueued on `stream` so far access host
/// memory, which HIP does not know. Does nothing if the checker is off, the stream is invalid or
/// memory is exhausted.
void track_host_functions(hipStream_t stream, accessed_memory const& memory) noexcept;

}  // namespace roc::host_hip
