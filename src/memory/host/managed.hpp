// SPDX-License-Identifier: MIT
// What devices can do with managed memory.
#pragma once

namespace roc::memory {

/// Throws roc::error (not_supported), which names the missing attribute, if the current device has
/// no managed memory. Throws other roc::errors if HIP cannot tell.
void check_managed();

}  // namespace roc::memory
