// SPDX-License-Identifier: MIT
// The streams of the program that are being captured. No copy is served meanwhile: the calls of the
// library's threads could invalidate the capture.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

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

/// More captures at once are counted only: such a one ends by the end of any unknown capture.
inline constexpr std::size_t max_captured_streams = 64;

/// Captures that were removed because their streams are about to be destroyed.
struct removed_captures {
  std::array<captured_stream, max_captured_streams> streams;
  std::size_t count = 0;
};

// All functions are thread-safe, and none calls the vendor or the loader.

/// Returns the number of captures, including those that may be about to begin.
std::atomic<int> const& capture_count() noexcept;

/// Counts a capture that may be about to begin. One of the next two functions must follow.
void announce_capture() noexcept;
/// Adds an announced capture that has begun. Does nothing more if the stream is known already: on
/// AMD, a capture may replace one that is invalid.
void add_capture(captured_stream const& stream) noexcept;
/// Withdraws an announced capture that has not begun.
void withdraw_capture() noexcept;

/// Removes a capture that has ended. Does nothing if the capture is not known.
void end_capture_of(stream_key key) noexcept;
/// Remove the captures that end because a stream or a context is about to be destroyed. They are
/// removed before, because the vendor may give the handle to another thread at once.
removed_captures remove_capture_of(stream_key key) noexcept;
removed_captures remove_captures_in(void const* context) noexcept;
/// Puts captures back after the destruction has failed.
void put_back(removed_captures const& removed) noexcept;

/// Forgets all captures, in the child process of a fork.
void clear_captures_after_fork() noexcept;

}  // namespace roc::preload
