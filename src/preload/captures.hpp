// SPDX-License-Identifier: MIT
// The streams of the program that are being captured. No copy is served meanwhile: the calls of the
// library's threads could invalidate the capture.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace roc::preload {

/// A stream, by its handle.
struct stream_key {
  void* stream = nullptr;
  void const* thread = nullptr;  // set if the handle means the default stream of the thread

  friend bool operator==(stream_key const&, stream_key const&) = default;
};

/// Returns the key of a stream for the calling thread.
stream_key key_of(void* stream) noexcept;

struct captured_stream {
  stream_key key;
  void const* context = nullptr;  // of the stream, on nvidia; may be null
};

/// The size of the table of captures. Further captures are only counted; the end of any capture
/// that is not in the table decrements the count. If a further capture ends because its stream is
/// destroyed, the count stays too high: no copy is served from then on.
inline constexpr std::size_t max_captured_streams = 64;

/// Captures in the table. An id is not used again, so that it does not mean a later capture of the
/// same stream.
struct capture_set {
  std::array<std::uint64_t, max_captured_streams> ids;
  std::size_t count = 0;
};

// All functions are thread-safe, and none calls the vendor or the loader.

/// Returns the number of captures, including those that may be about to begin.
std::atomic<int> const& capture_count() noexcept;

/// Counts a capture that may be about to begin. One of the next two functions must follow.
void announce_capture() noexcept;
/// Adds an announced capture that has begun. It replaces a capture of the same stream, which has
/// ended: another thread may not have removed it yet. On AMD, a capture may replace one that is
/// invalid.
void add_capture(captured_stream const& stream) noexcept;
/// Withdraws an announced capture that has not begun.
void withdraw_capture() noexcept;

/// Returns the capture of a stream, or an empty set if it is not in the table. Called before the
/// vendor's function that ends the capture: after it, another thread may capture the same stream,
/// or a new one with the same handle.
capture_set find_capture_of(stream_key key) noexcept;
/// Returns the captures of the streams of a context. Called before the context is destroyed, for
/// the same reason. The set is empty if `context` is null.
capture_set find_captures_in(void const* context) noexcept;

/// Removes captures that have ended, except those that were replaced.
void remove_captures(capture_set const& captures) noexcept;
/// Called after the end of a capture that was not in the table. Does nothing if none is counted.
void remove_further_capture() noexcept;

/// Called in the child after a fork. Also unlocks the lock.
void clear_captures_after_fork() noexcept;

}  // namespace roc::preload
