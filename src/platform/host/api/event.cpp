// SPDX-License-Identifier: MIT
// Events.
#include "platform/host/event.hpp"

#include <chrono>
#include <thread>

#include "platform/host/api_call.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// How long a thread that waits for another process sleeps before it looks again.
constexpr auto remote_polling_interval = std::chrono::microseconds(20);

// Returns true if the event's last recording is in a stream that has been destroyed. ROCm then
// accesses the destroyed stream.
bool would_access_destroyed_stream(event_record const& record) {
  return emulates_rocm() && scheduler::instance().is_destroyed(*record.stream);
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return api_call("hipEventCreateWithFlags", [=] {
    constexpr unsigned release_flags = hipEventReleaseToDevice | hipEventReleaseToSystem;
    constexpr unsigned disable_system_fence = 0x20000000;  // which old HIP has no name for
    constexpr unsigned valid_flags = hipEventBlockingSync | hipEventDisableTiming |
                                     hipEventInterprocess | release_flags | disable_system_fence;
    bool const is_timed_interprocess =
        (flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0;
    bool const is_contradictory = (flags & release_flags) == release_flags;
    if (event == nullptr || (flags & ~valid_flags) != 0 || is_timed_interprocess ||
        is_contradictory) {
      return hipErrorInvalidValue;
    }
    *event = create_event(current_device(), flags);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventDestroy(hipEvent_t event) {
  return api_call("hipEventDestroy",
                  [=] { return destroy_event(event) ? hipSuccess : hipErrorInvalidHandle; });
}

ROCARRAY_HOST_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return api_call("hipEventRecord", [=] {
    auto const recorded = find_event(event);
    auto const target = scheduler::instance().find_stream(stream);
    if (recorded == nullptr || target == nullptr || recorded->device != target->device) {
      return hipErrorInvalidHandle;
    }
    auto const record = std::make_shared<event_record>();
    record->stream = target;
    record->captured = stream_captures::instance().point(target.get());
    if (record->captured != nullptr) {
      recorded->set_record(record);
      return hipSuccess;
    }
    auto const shared = recorded->shared;
    if (shared != nullptr) record->number = shared->begin_recording();
    // The operation holds a weak pointer, because the record owns the operation.
    record->reached = scheduler::instance().submit(
        target,
        [weak = std::weak_ptr<event_record>(record), shared, number = record->number] {
          if (auto const reached = weak.lock()) reached->time = std::chrono::steady_clock::now();
          if (shared != nullptr) shared->reach(number);
        },
        nullptr, "", true);
    recorded->set_record(record);
    if (shared != nullptr) shared_event::publish(shared, record->number, record->reached);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return api_call("hipEventSynchronize", [=] {
    auto const awaited = find_event(event);
    if (awaited == nullptr) return hipErrorInvalidHandle;
    if (auto const remote = awaited->last_remote_recording()) {
      while (!remote->condition.is_met()) std::this_thread::sleep_for(remote_polling_interval);
      return hipSuccess;
    }
    auto const record = awaited->last_record();
    if (record == nullptr) return hipSuccess;
    stream_captures::refuse_wait(record->captured.get());
    if (would_access_destroyed_stream(*record)) {
      return undefined_call(
          "hipEventSynchronize was called with an event whose stream has been destroyed, which "
          "accesses freed memory under ROCm; the event has been reached, do not wait for it",
          captured_event);
    }
    scheduler::instance().wait(record->reached);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventQuery(hipEvent_t event) {
  return api_call("hipEventQuery", [=] {
    auto const queried = find_event(event);
    if (queried == nullptr) return hipErrorInvalidHandle;
    if (auto const remote = queried->last_remote_recording()) {
      return remote->condition.is_met() ? hipSuccess : hipErrorNotReady;
    }
    auto const record = queried->last_record();
    if (record == nullptr) return hipSuccess;
    stream_captures::refuse_wait(record->captured.get());
    if (would_access_destroyed_stream(*record)) {
      return undefined_call(
          "hipEventQuery was called with an event whose stream has been destroyed, which accesses "
          "freed memory under ROCm; the event has been reached, do not query it",
          captured_event);
    }
    return scheduler::instance().query(record->reached) ? hipSuccess : hipErrorNotReady;
  });
}

ROCARRAY_HOST_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start,
                                                 hipEvent_t end) {
  return api_call("hipEventElapsedTime", [=] {
    auto const first = find_event(start);
    auto const last = find_event(end);
    if (milliseconds == nullptr) return hipErrorInvalidValue;
    if (first == nullptr || last == nullptr) return hipErrorInvalidHandle;
    auto const from = first->last_record();
    auto const to = last->last_record();
    bool const are_timed = ((first->flags | last->flags) & hipEventDisableTiming) == 0;
    if (!are_timed || from == nullptr || to == nullptr) return hipErrorInvalidHandle;
    if (from->captured != nullptr || to->captured != nullptr) return captured_event;
    bool const are_done =
        scheduler::instance().query(from->reached) && scheduler::instance().query(to->reached);
    if (!are_done) return hipErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
