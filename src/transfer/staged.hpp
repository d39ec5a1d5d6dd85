// SPDX-License-Identifier: MIT
// Copies between the device and host memory that DMA cannot use as it is: pageable, or strided.
// They go through pinned staging memory, packed and unpacked by the CPU, in pieces.
#pragma once

#include <roc/stream.hpp>

#include "transfer/plan.hpp"

namespace roc::transfer {

/// Done on return. The default stream of the current device has been waited for.
void copy_staged_now(plan const& p);

/// Enqueued on `stream`, to the device: the source has been read when this returns. Waits where all
/// staging memory is in flight.
void upload_staged(plan const& p, stream_ref stream);

/// Enqueued on `stream`, in either direction: the CPU reads or writes host memory in the stream's
/// order, on a thread of the runtime.
void enqueue_staged(plan const& p, stream_ref stream);

}  // namespace roc::transfer
