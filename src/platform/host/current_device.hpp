// SPDX-License-Identifier: MIT
// The calling thread's current device (hipSetDevice).
#pragma once

namespace roc::host_hip {

/// Returns true if `device` is the number of a device (ROCARRAY_HOST_DEVICES).
bool device_exists(int device);

/// Returns the calling thread's current device; 0 until the thread sets one.
int current_device() noexcept;
/// Sets the calling thread's current device, which must exist.
void set_current_device(int device) noexcept;

}  // namespace roc::host_hip
