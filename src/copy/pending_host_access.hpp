// SPDX-License-Identifier: MIT
// Tells the access checker of the host platform which host memory enqueued work accesses.
#pragma once

#include <roc/stream.hpp>

#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// Returns true if the platform is host and ROCARRAY_HOST_CHECK is set.
bool tracks_pending_access() noexcept;

/// Records that host functions enqueued on `stream` access one side of a copy, in host memory:
/// HIP does not know what they access. Does nothing unless tracks_pending_access().
void track_pending_access(layout::canonical_layout const& copy, layout::side host_side,
                          stream_ref stream) noexcept;

}  // namespace roc::transfer
