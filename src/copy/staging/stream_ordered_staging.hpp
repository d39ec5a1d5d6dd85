// SPDX-License-Identifier: MIT
// Staged transfers whose CPU work runs in the order of a stream, as host functions.
#pragma once

#include <memory>

#include <roc/stream.hpp>

#include "copy/copy_kind.hpp"
#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

/// Enqueues the transfer `work` on `stream`, whose device must be current. Host memory is read or
/// written in the stream's order. The enqueued host functions share ownership of `work`.
/// @param kind host_to_device or device_to_host.
/// All descriptions are written now, into one staging buffer, which also holds the data of the
/// largest chunk. With several chunks, the CPU's steps and the device's steps overlap on two
/// auxiliary streams; else all steps run on `stream`. Blocks only if all staging memory is in use.
/// Throws roc::error or out_of_memory; some steps may then be enqueued on `stream`, but none is
/// pending on other streams.
void enqueue_stream_ordered(std::shared_ptr<staged_work const> work, copy_kind kind,
                            stream_ref stream);

}  // namespace roc::transfer
