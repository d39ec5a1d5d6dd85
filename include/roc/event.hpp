// SPDX-License-Identifier: MIT
// Events: points in the work of a stream that one can wait for, and measure between.
#pragma once

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

struct native_event;  // what a hipEvent_t points to

}  // namespace detail

/// What event and timed_event share. Move-only; destroying a recorded event is safe.
///
/// Members throw roc::error (what HIP reports) and lifetime_error (moved-from event).
class ROCARRAY_API event_base {
 public:
  ~event_base();

  /// Marks the end of the work enqueued on `stream` so far; recording again moves the mark.
  void record(stream_ref stream = {});
  /// Waits until the work before the mark is done; returns at once if never recorded.
  void synchronize() const;
  /// Whether the work before the mark is done; true if never recorded. Does not wait.
  [[nodiscard]] bool query() const;

  /// What roc/native.hpp turns into HIP's.
  detail::native_event* handle() const;

 protected:
  /// With HIP's flags; throws roc::error.
  explicit event_base(unsigned flags);
  /// The other owns nothing then.
  event_base(event_base&& other) noexcept;
  /// Destroys the event that it had.
  event_base& operator=(event_base&& other) noexcept;

  /// Exchanges the events.
  void swap(event_base& other) noexcept;

  detail::native_event* handle_;  ///< null where it was moved from
};

/// An event for ordering (hipEventDisableTiming): the cheapest kind. It measures nothing.
class ROCARRAY_API event : public event_base {
 public:
  event();  ///< on the current device; throws roc::error
};

/// An event that also takes the time.
class ROCARRAY_API timed_event : public event_base {
 public:
  timed_event();  ///< on the current device; throws roc::error

  /// Milliseconds from this event to `end` on the device's clock, both recorded and done
  /// (hipEventElapsedTime; numba.cuda: `event_elapsed_time`). Throws roc::error otherwise.
  [[nodiscard]] double elapsed_time(timed_event const& end) const;
};

}  // namespace roc
