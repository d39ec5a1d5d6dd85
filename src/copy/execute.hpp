// SPDX-License-Identifier: MIT
// The execution of a planned copy.
#pragma once

#include <roc/stream.hpp>

#include "copy/plan.hpp"

namespace roc::transfer {

/// Executes a copy in the order of `*stream`, for which it was planned with timing::enqueued. If
/// `stream` is null, executes it after all earlier work and blocks until it is complete. May block
/// until pending writes of a source that is read now are done, and until staging memory is free.
/// Throws roc::error and out_of_memory; no work of the copy is pending then.
void execute(plan const& p, stream_ref const* stream);

/// Throws roc::error if a copy cannot be captured on `stream`, or not by a stream of that device.
/// Does not check the host memory. Enqueues nothing.
void check_capturable(plan const& p, stream_ref stream);

}  // namespace roc::transfer
