// SPDX-License-Identifier: MIT
// Polls watchers (roc/detail/stream_watcher.hpp) while a thread waits for their stream.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

#include <roc/stream.hpp>

namespace roc::runtime {

namespace watcher_detail {

/// The number of streams with watchers. While it is 0, a synchronization costs only one additional
/// load.
inline std::atomic<std::size_t> watched_streams = 0;

/// Implements wait_for_watchers if a stream has watchers.
std::exception_ptr wait(stream_ref stream) noexcept;

}  // namespace watcher_detail

/// Blocks until each watcher of the stream has no pending operations on it or has thrown. Returns
/// the first error, null if there was none, and logs the second one.
inline std::exception_ptr wait_for_watchers(stream_ref stream) noexcept {
  bool const is_any_watched = watcher_detail::watched_streams.load(std::memory_order_acquire) != 0;
  return is_any_watched ? watcher_detail::wait(stream) : nullptr;
}

/// Forgets the watchers of a stream that is about to be destroyed.
void forget_watchers(stream_ref stream) noexcept;
/// Forgets the watchers of the per-thread streams of a thread that ends.
void forget_watchers_of_thread(unsigned long thread) noexcept;

}  // namespace roc::runtime
