// SPDX-License-Identifier: MIT
// Which device memory other devices can access.
#pragma once

namespace roc::memory {

/// Returns true if every device that has access to the memory of the device of `address`
/// (runtime::enable_peer_access) can access the memory there: the library has allocated it by a
/// resource that says so. Returns false for memory that other code allocated;
/// platform::is_accessible may still report it. Does not call HIP.
bool is_peer_accessible(void const* address) noexcept;

}  // namespace roc::memory
