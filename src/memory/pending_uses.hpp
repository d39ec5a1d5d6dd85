// SPDX-License-Identifier: MIT
// Which work may still use a piece of host memory.
#pragma once

#include <vector>

#include <roc/event.hpp>
#include <roc/stream.hpp>

namespace roc::memory {

/// The last use of a range by each stream.
class pending_uses {
 public:
  /// Marks everything enqueued on `stream` so far as using the range.
  void note(stream_ref stream);
  /// Throws roc::error, for work that failed too.
  void wait() const;
  /// The same without waiting: whether all of it is done.
  bool done() const;
  bool empty() const noexcept { return uses_.empty(); }

 private:
  struct use {
    stream_ref stream;
    event done;
  };
  std::vector<use> uses_;
};

}  // namespace roc::memory
