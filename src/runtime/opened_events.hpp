// SPDX-License-Identifier: MIT
// The events of other processes that this process has opened. A thread that waits for one checks
// whether the process that created it still runs. HIP does not say what becomes of an event whose
// process has ended: it may stay pending.
#pragma once

#include <atomic>

#include <roc/detail/ipc_data.hpp>
#include <roc/event.hpp>

namespace roc::runtime {

namespace opened_events_detail {

/// The number of events that are known.
inline std::atomic<unsigned> count = 0;

void forget(detail::native_event* event) noexcept;
void record(detail::native_event* event) noexcept;
bool synchronize(detail::native_event* event);

}  // namespace opened_events_detail

// Except for add_opened_event, the functions cost one relaxed load while no event is known. They
// are safe to call from any thread.

/// Makes an event known that this process has opened. `origin` is the process that created it.
/// Throws std::bad_alloc.
void add_opened_event(detail::native_event* event, detail::ipc_origin const& origin);
/// Forgets the event, which is about to be destroyed. Does nothing for other events.
inline void forget_opened_event(detail::native_event* event) noexcept {
  if (opened_events_detail::count.load(std::memory_order_relaxed) != 0) [[unlikely]]
    opened_events_detail::forget(event);
}
/// Notes that this process is about to record the event. Does nothing for other events.
inline void record_opened_event(detail::native_event* event) noexcept {
  if (opened_events_detail::count.load(std::memory_order_relaxed) != 0) [[unlikely]]
    opened_events_detail::record(event);
}
/// Blocks until an event has been reached that this process has opened and for which it has never
/// called record, and returns true. Returns false at once for all other events: if this process has
/// recorded the event, the last record may be its own, which the end of the creator does not
/// affect. Throws ipc_error if the creator has ended and the event has not been reached;
/// roc::error.
inline bool synchronize_opened_event(detail::native_event* event) {
  return opened_events_detail::count.load(std::memory_order_relaxed) != 0 &&
         opened_events_detail::synchronize(event);
}

}  // namespace roc::runtime
