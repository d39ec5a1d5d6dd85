// SPDX-License-Identifier: MIT
// Events: markers in streams. Threads and streams can wait for them, and they record the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "platform/host/api.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/shared_event.hpp"

namespace roc::host_hip {

/// One recording of an event. Each hipEventRecord creates a new one.
struct event_record {
  std::shared_ptr<stream_object> stream;           // in which the event was recorded
  operation_ptr reached;                           // done when the stream has reached the recording
  std::shared_ptr<captured_point const> captured;  // if the stream was captured; else null
  std::chrono::steady_clock::time_point time;      // valid after `reached` is done
  std::uint64_t number = 0;                        // of an event that other processes use
};

class event_object {
 public:
  event_object(int event_device, unsigned event_flags,
               std::shared_ptr<shared_event> event_in_shared_memory = nullptr)
      : device(event_device), flags(event_flags), shared(std::move(event_in_shared_memory)) {}

  /// Returns the last recording, or null if the event was never recorded.
  std::shared_ptr<event_record> last_record() const {
    std::lock_guard const lock(mutex_);
    return record_;
  }
  void set_record(std::shared_ptr<event_record> record) {
    std::lock_guard const lock(mutex_);
    record_ = std::move(record);
  }

  /// Returns the last recording if another process has made it.
  std::optional<shared_event::remote_recording> last_remote_recording() const {
    if (shared == nullptr) return std::nullopt;
    auto const record = last_record();
    return shared->last_recording(record == nullptr ? 0 : record->number);
  }

  int const device;
  unsigned const flags;
  std::shared_ptr<shared_event> const shared;  // null unless other processes may use the event

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<event_record> record_;
};

/// Creates an event of a device. The flags must be valid. Throws std::bad_alloc.
hipEvent_t create_event(int device, unsigned flags);
/// Returns the handle of an event. Throws std::bad_alloc.
hipEvent_t add_event(std::shared_ptr<event_object> added);
/// Invalidates the handle; does not block. Returns false if the handle is not that of an event.
bool destroy_event(hipEvent_t event);
/// Returns the event of a handle, or null if the handle is invalid.
std::shared_ptr<event_object> find_event(hipEvent_t event);

}  // namespace roc::host_hip
