// SPDX-License-Identifier: MIT
// Which work may still use a piece of host memory.
#pragma once

#include <vector>

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "runtime/stream_id.hpp"

namespace roc::memory {

/// The uses of a range by streams. Noting one is on the way of every copy, and calls HIP only for
/// streams of others: the library's own can be asked for an event later, also when they have ended.
class pending_uses {
 public:
  /// Marks everything enqueued on `stream` so far as using the range.
  void note(stream_ref stream);
  bool empty() const noexcept { return streams_.empty() && events_.empty() && others_.empty(); }

  /// Makes events behind what was noted; they may lie behind later work of the same streams. Throws
  /// roc::error, and forgets nothing then.
  void settle();
  /// Settles, and waits for all of it. Throws roc::error after that, for work that failed too.
  void wait();
  /// Whether all that was settled is done.
  bool done() const;

 private:
  struct use {
    runtime::stream_id stream;
    event last;
  };
  std::vector<runtime::stream_id> streams_;   // of class stream, and the default ones
  std::vector<runtime::shared_event> events_;   // settled
  std::vector<use> others_;                     // of streams that may go without a word
};

}  // namespace roc::memory
