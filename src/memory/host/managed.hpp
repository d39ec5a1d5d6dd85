// SPDX-License-Identifier: MIT
#pragma once

namespace roc::memory {

/// Throws roc::error (not_supported), naming the attribute, where the current device has no managed
/// memory.
void check_managed();
/// Whether host and device may use managed memory at once: then its pages can be moved and advised.
bool moves_pages(int device);

}  // namespace roc::memory
