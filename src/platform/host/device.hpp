// SPDX-License-Identifier: MIT
#pragma once

namespace roc::host_hip {

/// The calling thread's current device.
int current_device() noexcept;

}  // namespace roc::host_hip
