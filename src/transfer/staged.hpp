// SPDX-License-Identifier: MIT
// Copies between the device and host memory that DMA cannot use as it is: pageable, or strided.
// They go through pinned staging memory in pieces, packed and unpacked by several threads.
#pragma once

#include <roc/stream.hpp>

#include "transfer/plan.hpp"

namespace roc::transfer {

/// Done on return. What must come before it is done; it runs on streams of the library's own.
void copy_staged_now(plan const& p);

/// Enqueued on `stream`, to the device: the source has been read when this returns. Waits where all
/// staging memory is in flight.
void upload_staged(plan const& p, stream_ref stream);

/// Enqueued on `stream`, in either direction, without waiting: host memory is read or written in the
/// stream's order.
void enqueue_staged(plan const& p, stream_ref stream);

}  // namespace roc::transfer
