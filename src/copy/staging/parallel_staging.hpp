// SPDX-License-Identifier: MIT
// Staged transfers whose CPU work runs now, in parallel on the thread pool, while the device
// transfers other chunks.
#pragma once

#include <roc/stream.hpp>

#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

/// Transfers `work` to the current device and returns after it is complete. Runs on internal
/// streams, which are ordered with no other stream: the caller has waited for all work that must
/// come before. Throws roc::error or out_of_memory; no work of the transfer is pending then.
void upload_and_wait(staged_work const& work);

/// Transfers `work` from the current device to host memory and returns after it is complete.
/// Otherwise as upload_and_wait.
void download_and_wait(staged_work const& work);

/// Transfers `work` to the device in the order of `stream`, whose device must be current. Returns
/// after the source has been read and the device work has been enqueued. Blocks until staging
/// memory is free, which may mean until earlier work of user streams is done. Throws roc::error or
/// out_of_memory; some chunks may then be enqueued, and the caller must synchronize the stream
/// before their destination is freed.
void upload_on_stream(staged_work const& work, stream_ref stream);

}  // namespace roc::transfer
