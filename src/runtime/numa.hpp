// SPDX-License-Identifier: MIT
// Machines with several memory nodes: threads near the device that they serve.
#pragma once

namespace roc::runtime {

/// Keeps the calling thread, and so what it allocates, on the node of the device's bus, where the
/// machine has several and says which; else nothing.
void bind_thread_to_device_node(int device) noexcept;

}  // namespace roc::runtime
