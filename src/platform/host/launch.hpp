// SPDX-License-Identifier: MIT
// Enqueues kernels on streams.
#pragma once

#include <functional>

#include "platform/host/api.hpp"

namespace roc::host_hip {

/// Enqueues a call of `kernel`, which may access the device memory of all devices while it runs.
/// Returns hipErrorInvalidHandle if the stream is invalid.
hipError_t enqueue_kernel(hipStream_t stream, std::function<void()> kernel);

}  // namespace roc::host_hip
