// SPDX-License-Identifier: MIT
// Kernels and host functions: what a stream runs of the program's own code.
#pragma once

#include <functional>

#include "platform/host/api.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/workers.hpp"

namespace roc::host_hip {

/// Enqueues a kernel: device memory is open to it while it runs.
hipError_t enqueue_kernel(hipStream_t stream, std::function<void()> kernel);

}  // namespace roc::host_hip
