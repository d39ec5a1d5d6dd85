// SPDX-License-Identifier: MIT
// Managed memory: ordinary host memory, which all devices can access. Advice and prefetches are
// checked and ordered in their stream, and have no other effect. Under the rules of ROCm a prefetch
// blocks until the work before it is done.
#include <cstddef>
#include <optional>

#include "platform/host/api_call.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/host_ranges.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Returns true if `device` is the number of a device or means the host (hipCpuDeviceId).
bool is_location(int device) { return device == hipCpuDeviceId || device_exists(device); }

// Returns the managed allocation that contains the whole range, if any.
std::optional<host_range> find_managed(void const* data, std::size_t bytes) {
  auto const range = host_ranges::instance().find(data);
  if (!range || !range->managed || bytes == 0) return std::nullopt;
  if (!is_within(last_byte(data, bytes), range->data, range->bytes)) return std::nullopt;
  return range;
}

// Checks the arguments of advice and prefetch. Both need hipDeviceAttributeConcurrentManagedAccess.
hipError_t check_location(void const* data, std::size_t bytes, int device) {
  if (!find_managed(data, bytes)) return hipErrorInvalidValue;
  if (!is_location(device) || host_settings().managed != managed_support::full) {
    return hipErrorInvalidDevice;
  }
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMallocManaged(void** data, std::size_t bytes, unsigned flags) {
  return api_call("hipMallocManaged", [=] {
    stream_captures::instance().refuse_unsafe_call();
    if (host_settings().managed == managed_support::off) return hipErrorNotSupported;
    return host_ranges::instance().allocate_managed(data, bytes, flags);
  });
}

ROCARRAY_HOST_API hipError_t hipMemAdvise(void const* data, std::size_t bytes,
                                          hipMemoryAdvise advice, int device) {
  return api_call("hipMemAdvise", [=] {
    bool const is_valid =
        (advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy) ||
        advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain;
    return is_valid ? check_location(data, bytes, device) : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipMemPrefetchAsync(void const* data, std::size_t bytes, int device,
                                                 hipStream_t stream) {
  return api_call("hipMemPrefetchAsync", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (hipError_t const failure = check_location(data, bytes, device); failure != hipSuccess) {
      return failure;
    }
    stream_captures::instance().refuse(target.get());
    auto const prefetch = scheduler::instance().submit(target, nullptr);
    if (emulates_rocm()) scheduler::instance().wait(prefetch);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* data,
                                                     std::size_t bytes, unsigned flags) {
  return api_call("hipStreamAttachMemAsync", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    auto const range = find_managed(data, bytes == 0 ? 1 : bytes);
    // The range must be the whole allocation. 0 bytes mean the whole allocation, too.
    if (!range || range->data != data || (bytes != 0 && bytes != range->bytes)) {
      return hipErrorInvalidValue;
    }
    bool const is_single = flags == hipMemAttachSingle;
    if (!is_single && flags != hipMemAttachGlobal && flags != hipMemAttachHost) {
      return hipErrorInvalidValue;
    }
    if (is_single && stream == nullptr) return hipErrorInvalidValue;
    stream_captures::instance().refuse(target.get());
    scheduler::instance().submit(target, [] {});
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
