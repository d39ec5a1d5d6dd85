// SPDX-License-Identifier: MIT
// Events: markers in streams. Threads and streams can wait for them, and they record the time.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "platform/host/api.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/scheduler.hpp"

namespace roc::host_hip {

/// One recording of an event. Each hipEventRecord creates a new one.
struct event_record {
  std::shared_ptr<stream_object> stream;           // in which the event was recorded
  operation_ptr reached;                           // done when the stream has reached the recording
  std::shared_ptr<captured_point const> captured;  // if the stream was captured; else null
  std::chrono::steady_clock::time_point time;      // valid after `reached` is done
};

class event_object {
 public:
  event_object(int event_device, unsigned event_flags) : device(event_device), flags(event_flags) {}

  /// Returns the last recording, or null if the event was never recorded.
  std::shared_ptr<event_record> last_record() const {
    std::lock_guard const lock(mutex_);
    return record_;
  }
  void set_record(std::shared_ptr<event_record> record) {
    std::lock_guard const lock(mutex_);
    record_ = std::move(record);
  }

  int const device;
  unsigned const flags;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<event_record> record_;
};

/// Creates an event of a device. The flags must be valid.
hipEvent_t create_event(int device, unsigned flags);
/// Invalidates the handle; does not block. Returns false if the handle is not that of an event.
bool destroy_event(hipEvent_t event);
/// Returns the event of a handle, or null if the handle is invalid.
std::shared_ptr<event_object> find_event(hipEvent_t event);

}  // namespace roc::host_hip
