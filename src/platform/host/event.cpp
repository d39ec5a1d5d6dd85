// SPDX-License-Identifier: MIT
#include "platform/host/event.hpp"

#include <unordered_map>

#include "platform/host/device.hpp"
#include "platform/host/entry.hpp"

namespace roc::host_hip {
namespace {

struct living_events {
  std::mutex mutex;
  std::unordered_map<hipEvent_t, std::shared_ptr<event_object>> all;
};

// Leaked on purpose: events are destroyed until the very end of the process.
living_events& living() {
  static auto* const instance = new living_events;
  return *instance;
}

}  // namespace

std::shared_ptr<event_object> find_event(hipEvent_t event) {
  std::lock_guard const lock(living().mutex);
  auto const place = living().all.find(event);
  return place == living().all.end() ? nullptr : place->second;
}

}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return call("hipEventCreateWithFlags", [=] {
    constexpr unsigned known =
        hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
    bool const shared_but_timed =
        (flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0;
    if (event == nullptr || (flags & ~known) != 0 || shared_but_timed) return hipErrorInvalidValue;
    auto made = std::make_shared<event_object>(current_device(), flags);
    auto const handle = static_cast<hipEvent_t>(next_handle());
    std::lock_guard const lock(living().mutex);
    living().all.emplace(handle, std::move(made));
    *event = handle;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventDestroy(hipEvent_t event) {
  return call("hipEventDestroy", [=] {
    std::lock_guard const lock(living().mutex);
    bool const found = living().all.erase(event) != 0;
    return found ? hipSuccess : hipErrorInvalidHandle;
  });
}

ROCARRAY_HOST_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return call("hipEventRecord", [=] {
    auto const recorded = find_event(event);
    auto const found = engine::instance().find(stream);
    if (recorded == nullptr || found == nullptr || recorded->device != found->device) {
      return hipErrorInvalidHandle;
    }
    auto const next = std::make_shared<mark>();
    // A weak pointer: the operation belongs to the mark, not the mark to the operation.
    next->reached = engine::instance().submit(found, [weak = std::weak_ptr<mark>(next)] {
      if (auto const here = weak.lock()) here->when = std::chrono::steady_clock::now();
    });
    recorded->set_mark(next);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return call("hipEventSynchronize", [=] {
    auto const awaited = find_event(event);
    if (awaited == nullptr) return hipErrorInvalidHandle;
    if (auto const last = awaited->last_mark()) engine::instance().wait(last->reached);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventQuery(hipEvent_t event) {
  return call("hipEventQuery", [=] {
    auto const asked = find_event(event);
    if (asked == nullptr) return hipErrorInvalidHandle;
    auto const last = asked->last_mark();
    bool const done = last == nullptr || engine::instance().query(last->reached);
    return done ? hipSuccess : hipErrorNotReady;
  });
}

ROCARRAY_HOST_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end) {
  return call("hipEventElapsedTime", [=] {
    auto const first = find_event(start);
    auto const last = find_event(end);
    if (milliseconds == nullptr) return hipErrorInvalidValue;
    if (first == nullptr || last == nullptr) return hipErrorInvalidHandle;
    auto const from = first->last_mark();
    auto const to = last->last_mark();
    bool const timed = ((first->flags | last->flags) & hipEventDisableTiming) == 0;
    if (!timed || from == nullptr || to == nullptr) return hipErrorInvalidHandle;
    bool const done =
        engine::instance().query(from->reached) && engine::instance().query(to->reached);
    if (!done) return hipErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->when - from->when).count();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
