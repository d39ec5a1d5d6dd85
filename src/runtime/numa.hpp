// SPDX-License-Identifier: MIT
// Thread placement on machines with several NUMA nodes.
#pragma once

namespace roc::runtime {

/// Binds the calling thread to the processors of the NUMA node that `device` is attached to, except
/// those that the process may not use. Memory that the thread allocates is then local to the
/// device. Does nothing if the machine has one node or does not report the device's node. Calls
/// HIP; errors are ignored.
void bind_thread_to_device_node(int device) noexcept;

}  // namespace roc::runtime
