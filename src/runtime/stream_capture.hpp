// SPDX-License-Identifier: MIT
// The captures that are in progress (roc::capture). While a stream is captured, calls on it build a
// graph: they run later, any number of times. Nothing may be recorded on the stream or waited for
// there, and what the calls use must live as long as the graph.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <roc/event.hpp>
#include <roc/stream.hpp>

namespace roc::runtime {

class host_error_slot;

/// What the work of a graph needs besides HIP's graph. Members are safe to call from any thread.
class stream_capture {
 public:
  explicit stream_capture(int device) : device_(device) {}
  virtual ~stream_capture();
  stream_capture(stream_capture const&) = delete;
  stream_capture& operator=(stream_capture const&) = delete;

  int device() const noexcept { return device_; }
  /// Keeps an object alive as long as the graph. Objects are destroyed in the reverse order. Throws
  /// std::bad_alloc; the object is not kept then.
  void keep(std::shared_ptr<void const> object);
  /// Records that a call has failed of which a part may be in the graph, which must not be used.
  void set_failed() noexcept { has_failed_.store(true); }
  bool has_failed() const noexcept { return has_failed_.load(); }
  /// Returns the slot for exceptions of the host functions of the graph; sets it to `initial` if
  /// there is none, which means that no host function of the graph may throw.
  std::shared_ptr<host_error_slot> host_errors(std::shared_ptr<host_error_slot> initial = nullptr);

 private:
  int const device_;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;  // guards the members below
  std::vector<std::shared_ptr<void const>> kept_;
  std::shared_ptr<host_error_slot> host_errors_;
};

/// Makes a capture known to capture_of, from the beginning of HIP's capture of `stream` until the
/// object is destroyed.
class capture_registration {
 public:
  /// Throws roc::error, std::bad_alloc.
  capture_registration(stream_ref stream, stream_capture& capture);
  ~capture_registration();
  capture_registration(capture_registration const&) = delete;
  capture_registration& operator=(capture_registration const&) = delete;

  /// Makes the captured stream wait for all streams that have joined the capture: HIP ends no
  /// capture with others, and AMD's runtime leaves the streams captured then. Does nothing if the
  /// capture is invalid. Throws roc::error, std::bad_alloc; the call can then be repeated.
  void join_all();

 private:
  stream_ref const stream_;
  std::map<int, event> reached_;  // by device: after the work of the stream that was joined last
  unsigned long long id_ = 0;     // HIP's
};

/// Marks the calling thread as running the function whose calls are captured. Scopes nest.
class capturing_thread_scope {
 public:
  capturing_thread_scope() noexcept;
  ~capturing_thread_scope();
  capturing_thread_scope(capturing_thread_scope const&) = delete;
  capturing_thread_scope& operator=(capturing_thread_scope const&) = delete;
};

namespace capture_detail {

/// The number of capture_registrations.
inline std::atomic<unsigned> active = 0;

stream_capture* find(stream_ref stream);
bool belongs(stream_ref stream);
bool may_be_captured(stream_ref stream) noexcept;
bool fail(stream_ref stream) noexcept;
void refuse(stream_ref stream, char const* call);
void refuse_uncaptured(stream_ref const* stream);
void refuse_devices();
void record_event(detail::native_event* event, stream_ref stream);
void forget(detail::native_event* event) noexcept;
void refuse_event(detail::native_event* event, char const* call);
bool check_join(stream_ref stream, detail::native_event* event);
void record_join(stream_ref stream, detail::native_event* event,
                 std::shared_ptr<roc::event> before);
std::shared_ptr<event> event_before(stream_ref stream);

inline bool is_any_active() noexcept { return active.load(std::memory_order_relaxed) != 0; }

}  // namespace capture_detail

/// Returns the capture that the stream belongs to: it was begun for this stream, or the stream has
/// joined it by an event. Null if there is none, or if the program captures the stream itself.
/// Costs one relaxed load while nothing is captured; else calls HIP and takes a process-wide lock.
/// Throws roc::error if an earlier error has invalidated the capture.
inline stream_capture* capture_of(stream_ref stream) {
  return capture_detail::is_any_active() ? capture_detail::find(stream) : nullptr;
}

/// Returns true if a capture is in progress, in any thread. HIP then refuses to synchronize
/// devices.
inline bool is_any_capture_active() noexcept { return capture_detail::is_any_active(); }

/// Returns true if the stream belongs to a capture, also to one that an error has invalidated.
/// Throws roc::error if HIP cannot tell.
inline bool belongs_to_capture(stream_ref stream) {
  return capture_detail::is_any_active() && capture_detail::belongs(stream);
}

/// Does what belongs_to_capture does, but returns true if HIP cannot tell. For callers that may
/// treat any stream as captured.
inline bool may_be_captured(stream_ref stream) noexcept {
  return capture_detail::is_any_active() && capture_detail::may_be_captured(stream);
}

/// Returns true if HIP captures the stream, also if the program has begun the capture, which it can
/// on a per-thread default stream too. Calls HIP. Throws roc::error.
bool is_captured_by_hip(stream_ref stream);
/// Does what is_captured_by_hip does, but returns true if HIP cannot tell, as for the default
/// stream while HIP captures a blocking stream. For callers that may treat any stream as captured.
bool may_be_captured_by_hip(stream_ref stream) noexcept;

/// Returns true if the stream is captured, and then marks the capture as failed: see set_failed.
/// Returns false, after logging, if HIP cannot tell.
inline bool fail_capture(stream_ref stream) noexcept {
  return capture_detail::is_any_active() && capture_detail::fail(stream);
}

/// Throws roc::error if HIP cannot capture host functions. To be called for work on a captured
/// stream that needs them, such as a packed copy, before a part of it is captured.
void require_captured_host_functions();

// The following functions throw roc::error, without calling HIP's function that would invalidate
// the capture. They do nothing while nothing is captured.

/// Throws if the stream is captured. `call` names what is not possible.
inline void refuse_captured(stream_ref stream, char const* call) {
  if (capture_detail::is_any_active()) [[unlikely]]
    capture_detail::refuse(stream, call);
}
/// Throws if the calling thread runs the function whose calls are captured, and `stream` is null or
/// the default stream: the call would run now instead of being captured.
inline void refuse_uncaptured_call(stream_ref const* stream) {
  if (capture_detail::is_any_active()) [[unlikely]]
    capture_detail::refuse_uncaptured(stream);
}
/// Throws if a capture is in progress, in any thread: the synchronization of a device would
/// invalidate it, on AMD also if it is on another device.
inline void refuse_device_synchronization() {
  if (capture_detail::is_any_active()) [[unlikely]]
    capture_detail::refuse_devices();
}
/// Remembers that the event belongs to a capture, or no longer does, because it was recorded on
/// `stream`.
inline void record_captured_event(detail::native_event* event, stream_ref stream) {
  if (capture_detail::is_any_active()) [[unlikely]]
    capture_detail::record_event(event, stream);
}
/// Forgets the event, which is about to be destroyed.
inline void forget_event(detail::native_event* event) noexcept {
  if (capture_detail::is_any_active()) [[unlikely]]
    capture_detail::forget(event);
}
/// Throws if the event belongs to a capture in progress.
inline void refuse_captured_event(detail::native_event* event, char const* call) {
  if (capture_detail::is_any_active()) [[unlikely]]
    capture_detail::refuse_event(event, call);
}
/// Returns true if the stream joins a capture by waiting for the event. Call record_join then,
/// before the wait. Throws if the stream must not join the capture: HIP orders blocking streams
/// with the default stream, whose use by any thread would invalidate the capture. Throws also if
/// the stream is captured and the event does not belong to its capture.
inline bool check_join(stream_ref stream, detail::native_event* event) {
  return capture_detail::is_any_active() && capture_detail::check_join(stream, event);
}
/// Keeps an event that was recorded on a stream that is about to join the capture of `event`.
using capture_detail::record_join;

/// Returns an event that comes after all work that was enqueued on the stream before it joined the
/// capture that it belongs to: no event of that work can be recorded now. Null if the stream is not
/// captured, or record_join was not called, as for the stream that the capture began with, which
/// had no work. Throws roc::error.
inline std::shared_ptr<event> event_before_join(stream_ref stream) {
  return capture_detail::is_any_active() ? capture_detail::event_before(stream) : nullptr;
}

}  // namespace roc::runtime
