// SPDX-License-Identifier: MIT
// The error check after each launch of rocbench's own kernels.
#pragma once

#include "platform/hip.hpp"

namespace rocbench {

/// Throws case_not_supported if the device has no code of rocbench's kernels, roc::error if the
/// launch failed for any other reason.
void check_kernel_launch(hipError_t launch_result);

}  // namespace rocbench
