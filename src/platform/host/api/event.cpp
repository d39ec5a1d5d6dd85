// SPDX-License-Identifier: MIT
// Events.
#include "platform/host/event.hpp"

#include "platform/host/api_call.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/scheduler.hpp"

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return api_call("hipEventCreateWithFlags", [=] {
    constexpr unsigned valid_flags =
        hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
    bool const is_timed_interprocess =
        (flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0;
    if (event == nullptr || (flags & ~valid_flags) != 0 || is_timed_interprocess) {
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
    // The operation holds a weak pointer, because the record owns the operation.
    record->reached =
        scheduler::instance().submit(target, [weak = std::weak_ptr<event_record>(record)] {
          if (auto const reached = weak.lock()) reached->time = std::chrono::steady_clock::now();
        });
    recorded->set_record(record);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventSynchronize(hipEvent_t event) {
  return api_call("hipEventSynchronize", [=] {
    auto const awaited = find_event(event);
    if (awaited == nullptr) return hipErrorInvalidHandle;
    if (auto const record = awaited->last_record()) scheduler::instance().wait(record->reached);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipEventQuery(hipEvent_t event) {
  return api_call("hipEventQuery", [=] {
    auto const queried = find_event(event);
    if (queried == nullptr) return hipErrorInvalidHandle;
    auto const record = queried->last_record();
    bool const is_done = record == nullptr || scheduler::instance().query(record->reached);
    return is_done ? hipSuccess : hipErrorNotReady;
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
    bool const are_done =
        scheduler::instance().query(from->reached) && scheduler::instance().query(to->reached);
    if (!are_done) return hipErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
