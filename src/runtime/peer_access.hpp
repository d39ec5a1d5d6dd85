// SPDX-License-Identifier: MIT
// Access of devices to the memory of other devices, which HIP must be told to enable.
#pragma once

#include "platform/hip.hpp"

namespace roc::runtime {

/// Whether kernels and copies of rows that a device executes can access memory of another device
/// that hipMalloc has allocated, or a pool that was passed to share_pool. Other memory may be
/// accessible too: see platform::is_accessible.
enum class peer_access : unsigned char {
  enabled,
  unavailable,  // the devices are not connected, or have too many peers
  deferred,     // not enabled yet, and cannot be while a graph is captured
};

/// Enables the access of `device` to the memory of `peer`, another device, for the life of the
/// process, unless that was done before. Calls HIP only then, with a process-wide lock held; does
/// not block on work. The program must not disable the access. Throws roc::error, and the next call
/// tries again.
peer_access enable_peer_access(int device, int peer);

/// Makes the memory of a driver's pool on `device` accessible to the peers that have access to the
/// memory of the device, and to those that get it later. The pool is never destroyed. Calls HIP
/// with a process-wide lock held. Throws roc::error; the pool is shared with later peers also then.
void share_pool(int device, hipMemPool_t pool);

}  // namespace roc::runtime
