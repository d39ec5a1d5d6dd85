// SPDX-License-Identifier: MIT
// The answer to "which streams may still use this memory, and when may it be reused or freed".
#pragma once

#include <vector>

#include "runtime/stream_id.hpp"

namespace roc::runtime {

/// The pending uses of one resource, such as a range of memory, by the work of streams. A use is a
/// stream, and an event after its last work that uses the resource. The event is recorded late,
/// when somebody has to wait, wherever that is possible: recording a use is on the path of every
/// copy.
///
/// Uses of destroyed streams, and of later streams that got their handles, are told apart: see
/// stream_id. Not thread-safe: the owner provides a lock. No member blocks unless it says so. If a
/// member throws, no use is lost, so that the call can be repeated.
class stream_uses {
 public:
  stream_uses() = default;
  stream_uses(stream_uses&& other) noexcept = default;
  stream_uses& operator=(stream_uses&& other) noexcept = default;
  stream_uses(stream_uses const&) = default;
  stream_uses& operator=(stream_uses const&) = default;

  bool empty() const noexcept { return uses_.empty(); }
  bool contains(stream_id const& stream) const noexcept { return find(stream) != nullptr; }
  /// Removes all uses, because they have finished or because the caller has taken a copy.
  void clear() noexcept { uses_.clear(); }
  /// Removes the use by a stream, if there is one.
  void remove(stream_id const& stream) noexcept;

  /// Records that work enqueued on `stream` so far uses the resource. For a stream of the library
  /// this does not call HIP, and covers its later work too. A foreign stream may be destroyed
  /// without notice, so an event is recorded there after the work. Throws roc::error,
  /// std::bad_alloc.
  void add(stream_id const& stream);
  /// Does what `add` does for a stream of the library, but also for a foreign one, on which the
  /// caller is about to enqueue work. The caller calls `add` after it has enqueued the work, so
  /// that the use gets its event. Does not call HIP, except to remove finished uses. Throws
  /// roc::error, std::bad_alloc.
  void begin(stream_id const& stream);
  /// Records that work enqueued on `stream` so far uses the resource, with an event recorded now,
  /// so that later work of the stream is not waited for. Uses of one stream share one event. Throws
  /// roc::error, and the use is then without an event: for that of a foreign stream, wait and
  /// order_before block until the device is idle. Throws std::bad_alloc, and the use may be
  /// missing.
  void add_with_event(stream_id const& stream);
  /// Adds the uses of `other`. Throws std::bad_alloc.
  void add_all(stream_uses const& other);
  /// Records an event for each use that has none. Calls HIP. Throws roc::error, std::bad_alloc.
  void record_events();

  /// Returns true if all uses by streams other than `except` have finished. A use by a live stream
  /// that has no event counts as pending. Calls HIP. Throws roc::error.
  bool have_finished(stream_id const& except = {}) const;
  /// Removes the uses that have finished, and returns true if none is left. Calls HIP. Throws
  /// roc::error.
  bool remove_finished();
  /// Makes work enqueued on `later` from now on wait for all uses, which it does anyway for uses by
  /// the same stream. Later calls do not query the uses again that it finds finished. Calls HIP.
  /// Throws roc::error, std::bad_alloc.
  void order_before(stream_id const& later);
  /// Blocks until all uses have finished, and removes them. Throws roc::error if that failed for a
  /// use, after it has waited for the others; that use is kept.
  void wait();
  /// Blocks until all uses have finished, also after errors: waits for the streams, then for the
  /// devices. Logs errors. Removes all uses and returns true; returns false if the work may still
  /// be pending: the resource must then never be reused or freed.
  bool wait_quietly() noexcept;

 private:
  struct use {
    stream_id stream;
    shared_event done;  // null: to be recorded later, when it is needed
    bool is_lost;       // no event could be recorded on a foreign stream, which may be gone
    bool is_reached;    // the use has finished; `done` is kept for the next use by the stream
  };

  use* find(stream_id const& stream) noexcept;
  use const* find(stream_id const& stream) const noexcept {
    return const_cast<stream_uses*>(this)->find(stream);
  }
  /// Returns the use by a stream, and adds one without an event if there is none. Long-lived
  /// resources do not accumulate the uses of short-lived streams.
  use& find_or_add(stream_id const& stream);
  /// Returns true if the use has finished; see have_finished.
  static bool has_finished(use const& item);
  /// Records the event of a use if it has none; waits for the device if that is impossible. Returns
  /// the event, or null if the work of the stream is done.
  static shared_event const& event_of(use& item);

  std::vector<use> uses_;  // few: one for each stream
};

}  // namespace roc::runtime
