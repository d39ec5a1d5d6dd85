// SPDX-License-Identifier: MIT
// Events: points in the work of a stream, to wait for and to measure the time between.
#pragma once

#include <source_location>

#include <roc/config.hpp>
#include <roc/stream.hpp>

namespace roc {

class event_base;

namespace detail {

struct native_event;  // a hipEvent_t points to one

}  // namespace detail

namespace runtime {

class stream_id;
void record(event_base& recorded, stream_id const& stream);
void record_on_relay(event_base& recorded, stream_id const& stream);
void wait(stream_id const& later, event_base const& earlier);

}  // namespace runtime

/// The common part of event and timed_event. Move-only. A recorded event may be destroyed at any
/// time; the destructor does not block. The stream that recorded an event may be destroyed before
/// it. There is one exception, because AMD's runtime accesses the destroyed stream: timed events
/// must not be used after the foreign stream (roc::from_native) that recorded them was destroyed,
/// or after the thread ended on whose per-thread stream they were recorded.
///
/// Members throw roc::error (errors of HIP) and lifetime_error (moved-from event).
class ROCARRAY_API event_base {
 public:
  ~event_base();

  /// Records the end of the work enqueued on `stream` so far. A later record replaces this one.
  void record(stream_ref stream = {}, detail::caller at = std::source_location::current());
  /// Blocks until the recorded work has finished. Returns at once if nothing was recorded. Throws
  /// ipc_error for an opened ipc_event whose process has ended: see there.
  void synchronize(detail::caller at = std::source_location::current()) const;
  /// Returns true if the recorded work has finished, or if nothing was recorded. Does not block.
  [[nodiscard]] bool query(detail::caller at = std::source_location::current()) const;

  /// Returns the handle that roc/native.hpp converts.
  detail::native_event* handle() const;

 protected:
  /// Creates an event with HIP's flags on the current device. Throws roc::error.
  explicit event_base(unsigned flags);
  /// Takes ownership of an event of HIP that records no time.
  explicit event_base(detail::native_event* handle) noexcept
      : handle_(handle), is_timed_(false) {}
  /// Takes over the event of `other`; any further use of `other` throws lifetime_error.
  event_base(event_base&& other) noexcept;
  /// Destroys the current event and takes over that of `other`.
  event_base& operator=(event_base&& other) noexcept;

  /// Exchanges the events.
  void swap(event_base& other) noexcept;

  detail::native_event* handle_;  ///< null after a move

 private:
  bool const is_timed_;

  friend void runtime::record(event_base& recorded, runtime::stream_id const& stream);
  friend void runtime::record_on_relay(event_base& recorded, runtime::stream_id const& stream);
  friend void runtime::wait(runtime::stream_id const& later, event_base const& earlier);
  friend class stream_ref;

  /// Records the event on a native stream.
  void record_on(detail::native_stream* stream);
  /// Makes a native stream wait for the event.
  void make_wait(detail::native_stream* stream) const;
};

/// An event for ordering (hipEventDisableTiming), the cheapest kind. It cannot measure time. On AMD
/// and on the host platform, a record on a foreign or per-thread stream that is not captured is
/// made on an internal stream that waits for it, so that the event outlives the stream. This costs
/// six to eight more calls of HIP, and the event may be reached shortly after the work before it.
class ROCARRAY_API event : public event_base {
 public:
  /// Creates an event on the current device. Throws roc::error.
  event(detail::caller at = std::source_location::current());
};

/// An event that also records the time, always on the stream itself. A foreign or per-thread stream
/// must not be destroyed before the last use of the event.
class ROCARRAY_API timed_event : public event_base {
 public:
  /// Creates an event on the current device. Throws roc::error.
  timed_event(detail::caller at = std::source_location::current());

  /// Returns the milliseconds from this event to `end` on the device's clock (hipEventElapsedTime;
  /// numba.cuda: `event_elapsed_time`). Both must be recorded and their work finished, else throws
  /// roc::error.
  [[nodiscard]] double elapsed_time(timed_event const& end,
                                    detail::caller at = std::source_location::current()) const;
};

}  // namespace roc
