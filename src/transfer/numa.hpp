// SPDX-License-Identifier: MIT
// Machines with several memory nodes: threads near the device that they serve.
#pragma once

namespace roc::transfer {

/// Keeps the calling thread, and so what it allocates, on the node of the device's bus, where the
/// machine has several and says which; else nothing.
void stay_near_device(int device) noexcept;

}  // namespace roc::transfer
