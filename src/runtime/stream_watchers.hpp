// SPDX-License-Identifier: MIT
// Polls watchers (roc/detail/stream_watcher.hpp) while a thread waits for their stream.
#pragma once

#include <exception>

#include <roc/stream.hpp>

namespace roc::runtime {

/// Blocks until each watcher of the stream has no pending operations on it or has thrown. Returns
/// the first error, null if there was none, and logs the second one.
std::exception_ptr wait_for_watchers(stream_ref stream) noexcept;

/// Forgets the watchers of a stream that is about to be destroyed.
void forget_watchers(stream_ref stream) noexcept;
/// Forgets the watchers of the per-thread streams of a thread that ends.
void forget_watchers_of_thread(unsigned long thread) noexcept;

}  // namespace roc::runtime
