// SPDX-License-Identifier: MIT
#include <roc/ipc_event.hpp>

#include <string>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/ipc_origin.hpp"
#include "runtime/opened_events.hpp"

namespace roc {
namespace {

// Returns an event of another process. Throws ipc_error, roc::error.
detail::native_event* open(detail::ipc_event_data const& data) {
  runtime::check_checksum(data);
  int const device = runtime::device_of_origin(data.origin);
  runtime::on_device const guard(device);
  hipEvent_t opened = nullptr;
  hipError_t const result = ROCARRAY_HIP_CODE(
      hipIpcOpenEventHandle, &opened, runtime::native_handle<hipIpcEventHandle_t>(data.native));
  if (result != hipSuccess) {
    runtime::check_running(data.origin);
    throw ipc_error(std::error_code(static_cast<int>(result), hip_category()),
                    "cannot open an event of process " + std::to_string(data.origin.pid) +
                        ": hipIpcOpenEventHandle failed: " + hipGetErrorString(result) + " (" +
                        std::to_string(static_cast<int>(result)) +
                        "); the exporting process must keep the event, or the array of the handle, "
                        "until it has been opened",
                    "hipIpcOpenEventHandle");
  }
  auto* const event = reinterpret_cast<detail::native_event*>(opened);
  try {
    runtime::add_opened_event(event, data.origin);
  } catch (...) {
    ROCARRAY_HIP_QUIET(hipEventDestroy, opened);
    throw;
  }
  return event;
}

}  // namespace

ipc_event::ipc_event(detail::caller at)
    : event_base(
          (detail::call_scope("ipc_event", at), hipEventDisableTiming | hipEventInterprocess)),
      device_((detail::call_scope("ipc_event", at), runtime::current_device())) {
#if ROCARRAY_PLATFORM_AMD
  // ROCm allocates the state that the processes share in this call or in the first record. A wait
  // before both would access a null pointer.
  detail::call_scope const call("ipc_event", at);
  hipIpcEventHandle_t native;
  auto const event = reinterpret_cast<hipEvent_t>(handle());
  ROCARRAY_HIP(hipIpcGetEventHandle, &native, event);
#endif
}

ipc_event::ipc_event(ipc_event_handle const& handle, detail::caller at)
    : event_base((detail::call_scope("ipc_event", at), open(handle.data_))),
      device_(-1),
      opened_handle_(handle) {}

ipc_event_handle ipc_event::ipc_handle(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  auto const event = reinterpret_cast<hipEvent_t>(handle());
  if (device_ < 0) return opened_handle_;
  runtime::on_device const guard(device_);
  hipIpcEventHandle_t native;
  ROCARRAY_HIP(hipIpcGetEventHandle, &native, event);
  ipc_event_handle result;
  result.data_.origin = runtime::origin_of(device_);
  result.data_.native = runtime::bytes_of(native);
  result.data_.checksum = runtime::checksum_of(result.data_);
  return result;
}

}  // namespace roc
