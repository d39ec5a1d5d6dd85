// SPDX-License-Identifier: MIT
// The execution of host functions.
#pragma once

#include "platform/host/api.hpp"

namespace roc::host_hip {

/// Calls a host function in the calling thread, in which HIP's functions fail meanwhile. Under the
/// rules of ROCm, whose runtime has one thread for them, the host functions of all streams run one
/// at a time: this blocks while another one runs.
void run_host_function(hipHostFn_t function, void* data);
/// Blocks while a host function runs, under the rules of ROCm.
void wait_for_host_function();

}  // namespace roc::host_hip
