// SPDX-License-Identifier: MIT
// Operations on streams that may never end unless they are polled, such as collective ones, whose
// other ranks may not come.
#pragma once

#include <chrono>
#include <compare>
#include <memory>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Identifies a stream. Handles are unique in the process, except those of the default stream,
/// which exists once per device, and of the per-thread stream, which exists once per device and
/// thread.
struct stream_identity {
  native_stream* handle;
  int device;            // -1 for other streams
  unsigned long thread;  // 0 for other streams
  friend auto operator<=>(stream_identity const&, stream_identity const&) = default;
};

/// Returns the identity of a stream for the calling thread. Throws roc::error if it must ask for
/// the current device and cannot.
ROCARRAY_API stream_identity identity_of(stream_ref stream);

/// Returns a number, from 1, that no other thread of the process has or had.
ROCARRAY_API unsigned long this_thread_number();

/// Polls operations that another library has enqueued. Any thread may call it.
class ROCARRAY_API stream_watcher {
 public:
  stream_watcher() = default;
  stream_watcher(stream_watcher const&) = delete;
  stream_watcher& operator=(stream_watcher const&) = delete;

  /// Returns true if no operation that is watched is pending on the stream. Does not block. Throws
  /// if one has failed or if `waited` is longer than its limit; pending operations of the same
  /// library were made to end then.
  virtual bool poll_stream(stream_identity const& stream,
                           std::chrono::steady_clock::duration waited) = 0;

 protected:
  ~stream_watcher() = default;
};

/// Makes each later synchronization of `stream` poll `watcher` until it returns true or throws,
/// before it waits for the stream. The watcher is not kept alive. It is forgotten when a
/// roc::stream is destroyed, but not if other code destroys the stream. Throws std::bad_alloc and
/// as identity_of.
ROCARRAY_API void watch_stream(stream_ref stream, std::weak_ptr<stream_watcher> watcher);

}  // namespace roc::detail
