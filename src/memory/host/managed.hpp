// SPDX-License-Identifier: MIT
// What devices can do with managed memory.
#pragma once

namespace roc::memory {

/// Throws roc::error (not_supported), which names the missing attribute, if the current device has
/// no managed memory.
void check_managed();
/// Returns true if host and device can use managed memory at the same time. Only then can its pages
/// be advised and prefetched. Calls HIP.
bool has_concurrent_managed_access(int device);

}  // namespace roc::memory
