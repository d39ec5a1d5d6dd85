// SPDX-License-Identifier: MIT
// Streams.
#include <algorithm>

#include "platform/host/api_call.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/event.hpp"
#include "platform/host/host_function.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

int least_priority() { return emulates_rocm() ? 1 : 0; }
int greatest_priority() { return emulates_rocm() ? -1 : -2; }

// Creates a stream on the current device. Clamps the priority.
hipError_t create_stream(hipStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || (flags & ~unsigned{hipStreamNonBlocking}) != 0) {
    return hipErrorInvalidValue;
  }
  *stream = scheduler::instance().create_stream(
      current_device(), flags, std::clamp(priority, greatest_priority(), least_priority()));
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return api_call("hipStreamCreateWithFlags", [=] { return create_stream(stream, flags, 0); });
}

ROCARRAY_HOST_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags,
                                                         int priority) {
  return api_call("hipStreamCreateWithPriority",
                  [=] { return create_stream(stream, flags, priority); });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api_call("hipDeviceGetStreamPriorityRange", [=] {
    if (least != nullptr) *least = least_priority();
    if (greatest != nullptr) *greatest = greatest_priority();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamDestroy(hipStream_t stream) {
  return api_call("hipStreamDestroy", [=] {
    if (stream == nullptr || stream == hipStreamPerThread) return hipErrorInvalidHandle;
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    scheduler::instance().refuse_captured(target);
    if (emulates_rocm()) {
      // Also the destruction of an idle stream blocks while a host function of another one runs.
      scheduler::instance().wait(scheduler::instance().last_operation(target));
      wait_for_host_function();
    }
    return scheduler::instance().destroy_stream(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamSynchronize(hipStream_t stream) {
  return api_call("hipStreamSynchronize", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    scheduler::instance().refuse_captured(target);
    scheduler::instance().wait_for_stream(target);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamQuery(hipStream_t stream) {
  return api_call("hipStreamQuery", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    scheduler::instance().refuse_captured(target);
    auto awaited = scheduler::instance().awaited_operations(target);
    if (emulates_rocm() && stream == nullptr) {
      // ROCm enqueues a marker, which the later work of blocking streams waits for.
      auto const last = scheduler::instance().last_operation(target);
      bool const is_ordered = std::all_of(awaited.begin(), awaited.end(),
                                          [&](auto const& pending) { return pending == last; });
      if (!is_ordered) awaited = {scheduler::instance().submit(target, nullptr)};
    }
    bool const is_done = std::all_of(awaited.begin(), awaited.end(), [](auto const& pending) {
      return scheduler::instance().query(pending);
    });
    return is_done ? hipSuccess : hipErrorNotReady;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                                unsigned flags) {
  return api_call("hipStreamWaitEvent", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    auto const awaited = find_event(event);
    if (target == nullptr || awaited == nullptr) return hipErrorInvalidHandle;
    if (flags != 0) return hipErrorInvalidValue;
    if (auto const remote = awaited->last_remote_recording()) {
      stream_captures::instance().refuse(target.get(), hipErrorStreamCaptureIsolation);
      scheduler::instance().submit_wait(target, remote->condition, remote->owner);
      return hipSuccess;
    }
    auto const record = awaited->last_record();
    if (record == nullptr) return hipSuccess;
    if (record->captured != nullptr) {
      if (stream == nullptr) stream_captures::refuse_wait(record->captured.get());
      stream_captures::instance().join(captured_stream_of(*target), *record->captured);
    } else {
      stream_captures::instance().refuse(target.get(), hipErrorStreamCaptureIsolation);
      scheduler::instance().submit(target, nullptr, record->reached, "", true);
    }
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return api_call("hipStreamGetFlags", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    bool const is_refused_default = emulates_rocm() && stream == nullptr;
    if (flags == nullptr || is_refused_default) return hipErrorInvalidValue;
    *flags = target->flags;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return api_call("hipStreamGetPriority", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (priority == nullptr) return hipErrorInvalidValue;
    *priority = target->priority;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
