// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "runtime/stream_id.hpp"

namespace roc::memory {

/// The streams whose work may still use a range of host memory. Recording a use is on the path of
/// every copy, so that it calls HIP only for foreign streams: an event can be recorded on a stream
/// of the library later, even after the stream was destroyed.
///
/// Not thread-safe: the owner provides a lock.
class pending_uses {
 public:
  /// Records that work enqueued on `stream` so far uses the range. Does not block; calls HIP if the
  /// stream is foreign. Throws roc::error.
  void record_use(stream_ref stream);
  bool empty() const noexcept {
    return streams_.empty() && events_.empty() && foreign_uses_.empty();
  }

  /// Records an event on each stream of the library that has a use, which may come after later work
  /// of that stream. Does not block; calls HIP. Throws roc::error; no use is forgotten then.
  void record_events();
  /// Blocks until all uses have finished. Throws roc::error, after it has waited for everything, if
  /// an event could not be recorded or if work has failed.
  void wait();
  /// Returns true if all uses have finished for which record_events was called. Does not block;
  /// calls HIP. Throws roc::error.
  bool has_finished() const;

 private:
  struct foreign_use {
    runtime::stream_id stream;
    event done;  // recorded after the last use
  };
  std::vector<runtime::stream_id> streams_;    // of the library; without an event yet
  std::vector<runtime::shared_event> events_;  // recorded by record_events
  std::vector<foreign_use> foreign_uses_;
};

}  // namespace roc::memory
