// SPDX-License-Identifier: MIT
// Which devices can access the memory of which others. Safe to call from any thread; devices exist.
#pragma once

#include <cstdint>

namespace roc::host_hip {

/// A set of devices: bit d is device d.
using device_set = std::uint32_t;

/// Returns true if `device` may be given access to the memory of `peer` (ROCARRAY_HOST_PEERS);
/// false for a device and itself.
bool is_connected(int device, int peer);

/// Enables or disables the access of kernels and copies of rows of `device` to memory that
/// hipMalloc has allocated on `peer`. Returns false if that is so already.
bool set_peer_access(int device, int peer, bool is_enabled) noexcept;
/// Allows or forbids the access of `device` to the memory of the pool of `owner`.
void set_pool_access(int device, int owner, bool is_allowed) noexcept;

/// Returns the device itself and the peers to which it has access by set_peer_access.
device_set accessible_devices(int device) noexcept;
/// Returns true if kernels and copies of rows of `device` can access the memory at `address`: it is
/// host memory, of the device itself, or of a peer to which the device has access.
bool can_access_memory(int device, void const* address);

}  // namespace roc::host_hip
