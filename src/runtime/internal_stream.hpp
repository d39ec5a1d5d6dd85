// SPDX-License-Identifier: MIT
// Non-blocking streams that belong to the library. HIP orders them with no other stream, so work
// there must wait for the events that it depends on.
#pragma once

#include <roc/stream.hpp>

namespace roc::runtime {

/// The direction of the copies on an internal stream. Each direction has its own stream, so that
/// uploads and downloads overlap. Copies of several devices at once use `concurrent`, because
/// chunks of staged copies must not wait for them.
enum class transfer_direction { upload, download, concurrent };

/// Returns the current device's internal stream for this direction, which all threads share. The
/// first call creates it; it is never destroyed. Throws roc::error.
stream_ref internal_stream(transfer_direction direction);

}  // namespace roc::runtime
