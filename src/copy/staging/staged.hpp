// SPDX-License-Identifier: MIT
// The pipeline between host memory that DMA cannot use as it is and the device: through pinned
// staging memory in chunks, packed and unpacked by several threads.
#pragma once

#include <memory>

#include <roc/stream.hpp>

#include "copy/plan.hpp"
#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

/// To the device or back, done on return. What must come before it is done; it runs on streams of
/// the library's own.
void upload_now(staged_work const& work);
void download_now(staged_work const& work);

/// Enqueued on `stream`, to the device: the source has been read when this returns. Waits where all
/// staging memory is in flight.
void upload(staged_work const& work, stream_ref stream);

/// Enqueued on `stream`, in either direction, without waiting: host memory is read or written in
/// the stream's order. One block holds the descriptions of all chunks and the data of the largest.
/// Of several chunks the CPU's steps and the device's overlap, on streams beside `stream`.
void enqueue_staged(std::shared_ptr<staged_work const> work, direction way, stream_ref stream);

}  // namespace roc::transfer
