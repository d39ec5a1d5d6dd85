// SPDX-License-Identifier: MIT
// Non-blocking streams that belong to the library. HIP orders them with no other stream, so work
// there must wait for the events that it depends on.
#pragma once

#include <roc/stream.hpp>

namespace roc::runtime {

/// What an internal stream is used for. Uploads and downloads have streams of their own, so that
/// they overlap, and two each, so that the kernels of some chunks overlap with the transfers of
/// others. Copies of several devices at once use `concurrent_copies`, because chunks of staged
/// copies must not wait for them.
enum class internal_stream_use {
  upload,
  second_upload,
  download,
  second_download,
  concurrent_copies
};

/// Returns the current device's internal stream for this use, which all threads share. The first
/// call creates it; it is never destroyed. Throws roc::error.
stream_ref internal_stream(internal_stream_use use);

}  // namespace roc::runtime
