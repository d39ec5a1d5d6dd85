// SPDX-License-Identifier: MIT
// Tells the access checker of the host platform which host memory enqueued work accesses.
#pragma once

#include <roc/stream.hpp>

#include "layout/canonical_layout.hpp"
#include "platform/hip.hpp"

#if ROCARRAY_PLATFORM_HOST
#include "platform/host/access_checker.hpp"
#endif

namespace roc::transfer {

/// Returns true if the platform is host and ROCARRAY_HOST_CHECK is set.
bool tracks_pending_access() noexcept;

/// Makes the memory that pending work uses accessible to all threads, for a thread of the library
/// that does a part of this work. Scopes nest.
#if ROCARRAY_PLATFORM_HOST
using pending_access_scope = host_hip::accessible_scope;
#else
class pending_access_scope {
 public:
  pending_access_scope() noexcept {}
};
#endif

/// Records that host functions, or threads of the library, access one side of a copy in the order
/// of `stream`, in host memory: HIP does not know what they access. Does nothing unless
/// tracks_pending_access().
void track_pending_access(layout::canonical_layout const& copy, layout::side host_side,
                          stream_ref stream) noexcept;

}  // namespace roc::transfer
