// SPDX-License-Identifier: MIT
// Inside the library: HIP's handle of a stream_ref, and the order of work across streams.
#pragma once

#include <cstdint>
#include <optional>

#include <roc/stream.hpp>

#include "platform/hip.hpp"
#include "runtime/current_device.hpp"

namespace roc::runtime {

/// HIP's handle; throws lifetime_error for a moved-from stream, and for one known to be destroyed.
hipStream_t handle(stream_ref stream);

/// The device on which work for `stream` is enqueued: the stream's own, else `otherwise`.
inline int device_of(stream_ref stream, int otherwise) noexcept {
  return stream.device_ordinal() >= 0 ? stream.device_ordinal() : otherwise;
}

/// The device on which work of `stream` on memory of devices `first` and `second` (-1: the current
/// one) is enqueued. Throws roc::error where the stream belongs to neither.
int device_for(stream_ref stream, int first, int second);

/// Notes that the library has enqueued work on `stream`. Where the default stream does not wait for
/// that stream by itself, this records an event that order_after_all waits for.
void note_work(stream_ref stream);

/// Waits for a stream after a failure: part of some work may be on its way, and must not outlive
/// the caller's memory.
void synchronize_quietly(stream_ref stream) noexcept;

/// Runs `enqueue`, which enqueues work on `stream`, and notes it.
template <class F>
void enqueue_noted(stream_ref stream, F enqueue) {
  try {
    enqueue();
    note_work(stream);
  } catch (...) {
    synchronize_quietly(stream);
    throw;
  }
}

/// Forgets a non-blocking stream that is about to be destroyed; the work noted there still counts.
void forget_work(stream_ref stream) noexcept;

inline bool is_per_thread(detail::native_stream* handle) noexcept {
  return reinterpret_cast<hipStream_t>(handle) == hipStreamPerThread;
}

/// Whether a handle means another stream on every device: the default stream's, whatever it is
/// called (hipStreamLegacy is 1, where a runtime has it), and the per-thread streams'.
inline bool follows_device(detail::native_stream* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) <= 2;
}

/// Makes the device of a per-thread stream current for a scope: its handle is the same on all.
/// Nothing for other streams.
class on_stream_device {
 public:
  explicit on_stream_device(stream_ref stream) {
    if (is_per_thread(stream.handle()) && stream.device_ordinal() >= 0) {
      guard_.emplace(stream.device_ordinal());
    }
  }

 private:
  std::optional<on_device> guard_;
};

/// Whether work of the device may be on its way that wait_for_all has not waited for.
bool has_work_since_wait(int device) noexcept;

/// Makes the default stream of `device`, which must be current, wait for the work noted there.
void order_after_all(int device);

/// Waits until all work enqueued on `device`, which must be current, is done: that of other streams
/// too, for which waiting for the default stream alone would not do.
void wait_for_all(int device);

/// Waits until every device is idle, whoever enqueued the work and on whatever streams.
void wait_for_devices();

}  // namespace roc::runtime
