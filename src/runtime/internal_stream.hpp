// SPDX-License-Identifier: MIT
// Streams of the library's own, ordered with no other: what runs on them waits for what it needs.
#pragma once

#include <roc/stream.hpp>

namespace roc::runtime {

/// One for each direction, so that both can be at work at once.
enum class own_use { upload, download };

/// That of the current device; made by the first call, never destroyed.
stream_ref internal_stream(own_use use);

/// A new one on the current device, never destroyed.
stream_ref make_own_stream();

}  // namespace roc::runtime
