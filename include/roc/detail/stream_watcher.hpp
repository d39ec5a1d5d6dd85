// SPDX-License-Identifier: MIT
// Operations on streams that may never end unless they are polled, such as collective ones, whose
// other ranks may not come.
#pragma once

#include <chrono>
#include <memory>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Polls operations that another library has enqueued. Its functions are called by any thread.
class ROCARRAY_API stream_watcher {
 public:
  stream_watcher() = default;
  stream_watcher(stream_watcher const&) = delete;
  stream_watcher& operator=(stream_watcher const&) = delete;

  /// Returns true if no operation of this object is pending on the stream. Does not block. If an
  /// operation has failed, or `waited` is longer than its limit, throws the error once, after the
  /// pending operations were made to end; later calls return true.
  virtual bool poll_stream(native_stream* stream, std::chrono::steady_clock::duration waited) = 0;

 protected:
  ~stream_watcher() = default;
};

/// From now on, a synchronization of `stream` polls `watcher` until it returns true, before it
/// waits for the stream. Does nothing if it does so already. Ends when the watcher or the stream
/// is destroyed. Throws std::bad_alloc.
ROCARRAY_API void watch_stream(stream_ref stream, std::weak_ptr<stream_watcher> watcher);

}  // namespace roc::detail
