// SPDX-License-Identifier: MIT
// Strided copies from one device to another: each one's kernels see its own memory alone.
#pragma once

#include <roc/stream.hpp>

#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// Gathered into packed memory on the source's device, sent, and scattered on the destination's, in
/// pieces, where a side is not contiguous. Enqueued in the order of `stream`, of either device
/// (named, for the default stream too). Waits where all scratch memory is in flight. Throws
/// roc::error, with nothing left under way.
void copy_between_devices(layout::canonical_layout const& form, int from_device, int to_device,
                          stream_ref stream);

}  // namespace roc::transfer
