// SPDX-License-Identifier: MIT
// The pending uses of one allocation or registration of host memory.
#pragma once

#include <mutex>
#include <optional>

#include "runtime/stream_uses.hpp"

namespace roc::memory {

/// How work uses host memory.
enum class access : unsigned char { read, write };

/// The streams whose work may still read or write one range of host memory. Members are safe to
/// call from any thread: each takes the mutex of the object, and may call HIP with it held.
class host_uses {
 public:
  /// Records that work enqueued on `stream` so far uses the memory. Does not block; calls HIP only
  /// if the stream is foreign, and to remove finished uses. Throws roc::error, std::bad_alloc.
  void record(runtime::stream_id const& stream, access kind);
  /// Adds the uses to `uses`: all of them, or only the writes. Does not call HIP. Throws
  /// std::bad_alloc.
  void add_to(runtime::stream_uses& uses, bool only_writes) const;

  /// Blocks until all uses have finished, also after errors, as stream_uses::wait_quietly does, and
  /// until work of failed calls is done, which may be uses that are not recorded.
  /// Does not hold the mutex while it waits for the uses that were recorded before the call. Logs
  /// errors. Returns false if work may still use the memory, which must then not be freed.
  bool wait_quietly() noexcept;

 private:
  /// Waits for the uses, and removes them. Returns false if work may still use the memory, and
  /// nullopt if uses were recorded meanwhile or if memory is exhausted.
  std::optional<bool> wait_without_lock() noexcept;

  mutable std::mutex mutex_;  // guards the members below
  runtime::stream_uses reads_;
  runtime::stream_uses writes_;
  unsigned record_count_ = 0;  // calls of record()
};

}  // namespace roc::memory
