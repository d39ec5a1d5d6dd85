// SPDX-License-Identifier: MIT
// What is polled while a thread waits for a stream: roc/detail/stream_watcher.hpp.
#pragma once

#include <exception>

#include <roc/stream.hpp>

namespace roc::runtime {

/// Blocks until no watcher of the stream has pending operations on it, or until two have thrown.
/// Returns the first error, null if there was none; logs the second one.
std::exception_ptr wait_for_watchers(stream_ref stream) noexcept;

/// Forgets the watchers of a stream that is about to be destroyed.
void forget_watchers(stream_ref stream) noexcept;

}  // namespace roc::runtime
