// SPDX-License-Identifier: MIT
// Events: marks in the work of streams.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "platform/host/api.hpp"
#include "platform/host/engine.hpp"

namespace roc::host_hip {

/// One record of an event; recording again makes a new one.
struct mark {
  operation_ptr reached;
  std::chrono::steady_clock::time_point when;  // read once `reached` is done
};

class event_object {
 public:
  event_object(int on, unsigned with) : device(on), flags(with) {}

  /// Null where the event was never recorded.
  std::shared_ptr<mark> last_mark() const {
    std::lock_guard const lock(mutex_);
    return mark_;
  }
  void set_mark(std::shared_ptr<mark> next) {
    std::lock_guard const lock(mutex_);
    mark_ = std::move(next);
  }

  int const device;
  unsigned const flags;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<mark> mark_;
};

/// Null where the handle is of no living event.
std::shared_ptr<event_object> find_event(hipEvent_t event);

}  // namespace roc::host_hip
