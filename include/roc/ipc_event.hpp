// SPDX-License-Identifier: MIT
// Events that several processes of one machine use.
#pragma once

#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/ipc_data.hpp>
#include <roc/event.hpp>

namespace roc {

class ipc_event;

namespace detail {
struct ipc_access;  // see ipc.hpp
}  // namespace detail

/// The handle of an ipc_event: a value that is sent to another process as its bytes
/// (hipIpcEventHandle_t; torch: `Event.ipc_handle`). Trivially copyable. A default-constructed
/// handle cannot be opened.
class ipc_event_handle {
 public:
  ipc_event_handle() = default;  ///< Creates a handle of no event.

  /// Returns the number of the process that created the event.
  long long process() const noexcept { return data_.origin.pid; }

 private:
  friend class ipc_event;
  friend struct detail::ipc_access;

  detail::ipc_event_data data_{};
};

/// An event that other processes of the machine can open (hipEventInterprocess). It cannot measure
/// time. Move-only.
///
/// A process that has opened it may record it and wait for it. A wait is for the last record that
/// was made before it in any process. The processes must tell each other that a record has been
/// made, because a wait before the first record ends at once. synchronize() of an opened event also
/// waits for records that are made while it waits.
///
/// *Lifetime:* the process that created the event must keep it until nobody waits for it. If it has
/// ended, synchronize() of a process that has opened the event and never recorded it throws
/// ipc_error, unless the event has been reached. What the ended process had recorded counts as
/// reached on the host platform; elsewhere it may stay pending, and the wait of a stream may never
/// end.
///
/// *AMD:* several versions of ROCm restrict these events. Every process must open the event before
/// any of them destroys it, because that removes the name by which it is opened. It must not be
/// recorded more than 32 times, in all processes together. No stream may wait for it before the
/// first record. Its destructor blocks until the last record has been reached.
class ROCARRAY_API ipc_event : public event_base {
 public:
  /// Creates an event on the current device. Throws roc::error.
  ipc_event(detail::caller at = std::source_location::current());
  /// Opens an event of another process, on the device that it was created on.
  ///
  /// @throws ipc_error if the handle is damaged, is from this process, from another boot or
  ///   machine, or from a process that has ended, or if the device is not visible here: see
  ///   open_ipc_array
  /// @throws roc::error for other errors of HIP
  explicit ipc_event(ipc_event_handle const& handle,
                     detail::caller at = std::source_location::current());

  /// Returns the handle for other processes (hipIpcGetEventHandle). For an event that was opened,
  /// returns the handle that it was opened with. Throws roc::error.
  ipc_event_handle ipc_handle(detail::caller at = std::source_location::current()) const;

 private:
  int device_;                      // that of an event that was created here
  ipc_event_handle opened_handle_;  // of an event that was opened
};

}  // namespace roc
