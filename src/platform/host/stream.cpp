// SPDX-License-Identifier: MIT
#include <algorithm>

#include "platform/host/device.hpp"
#include "platform/host/engine.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/event.hpp"

namespace roc::host_hip {
namespace {

constexpr int least_priority = 0;
constexpr int greatest_priority = -2;

hipError_t create(hipStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || (flags & ~unsigned{hipStreamNonBlocking}) != 0) {
    return hipErrorInvalidValue;
  }
  *stream = engine::instance().create(current_device(), flags,
                                      std::clamp(priority, greatest_priority, least_priority));
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return call("hipStreamCreateWithFlags", [=] { return create(stream, flags, 0); });
}

ROCARRAY_HOST_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags,
                                                    int priority) {
  return call("hipStreamCreateWithPriority", [=] { return create(stream, flags, priority); });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("hipDeviceGetStreamPriorityRange", [=] {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamDestroy(hipStream_t stream) {
  return call("hipStreamDestroy", [=] {
    return engine::instance().destroy(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamSynchronize(hipStream_t stream) {
  return call("hipStreamSynchronize", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    engine::instance().wait(engine::instance().last_of(found));
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamQuery(hipStream_t stream) {
  return call("hipStreamQuery", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    bool const done = engine::instance().query(engine::instance().last_of(found));
    return done ? hipSuccess : hipErrorNotReady;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return call("hipStreamWaitEvent", [=] {
    auto const found = engine::instance().find(stream);
    auto const awaited = find_event(event);
    if (found == nullptr || awaited == nullptr) return hipErrorInvalidHandle;
    if (flags != 0) return hipErrorInvalidValue;
    if (auto const mark = awaited->last_mark(); mark != nullptr) {
      engine::instance().submit(found, nullptr, mark->reached);
    }
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return call("hipStreamGetFlags", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    if (flags == nullptr) return hipErrorInvalidValue;
    *flags = found->flags;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return call("hipStreamGetPriority", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    if (priority == nullptr) return hipErrorInvalidValue;
    *priority = found->priority;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
