// SPDX-License-Identifier: MIT
// Memory and events of other processes.
#include <cstdint>
#include <cstring>
#include <memory>

#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/event.hpp"
#include "platform/host/process_file.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// The contents of a hipIpcMemHandle_t and of a hipIpcEventHandle_t. `magic` tells them from other
// bytes.
struct memory_handle {
  static constexpr std::uint64_t expected_magic = 0x726f636172724d31;

  std::uint64_t magic;
  process_reference owner;
  shared_allocation shared;
  std::int64_t device;
};
struct event_handle_bytes {
  static constexpr std::uint64_t expected_magic = 0x726f636172724531;

  std::uint64_t magic;
  shared_event_location location;
};

template <class Handle, class Contents>
void write_handle(Handle& handle, Contents const& contents) {
  static_assert(sizeof contents <= sizeof handle);
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(&handle, &contents, sizeof contents);
}

template <class Contents, class Handle>
Contents read_handle(Handle const& handle) {
  Contents result;
  std::memcpy(&result, &handle, sizeof result);
  return result;
}

hipError_t open_memory(void** data, memory_handle const& handle) {
  if (handle.magic != memory_handle::expected_magic) return hipErrorInvalidValue;
  if (handle.owner == this_process()) return hipErrorInvalidContext;
  if (handle.device < 0 || handle.device >= host_settings().device_count) {
    return hipErrorInvalidDevice;
  }
  file_descriptor const file = open_file_of(handle.owner, handle.shared.file);
  if (file.get() < 0) return hipErrorInvalidHandle;
  // CUDA counts openings. ROCm refuses the second one.
  *data =
      device_arena(static_cast<int>(handle.device))
          .open_shared(static_cast<std::uint64_t>(handle.owner.pid) << 32 ^ handle.owner.start_time,
                       handle.shared, file.get(), !emulates_rocm());
  return *data == nullptr ? hipErrorInvalidValue : hipSuccess;
}

hipError_t open_event(hipEvent_t* event, event_handle_bytes const& handle) {
  if (handle.magic != event_handle_bytes::expected_magic) return hipErrorInvalidValue;
  if (handle.location.creator == this_process()) return hipErrorInvalidContext;
  if (!device_exists(handle.location.device)) return hipErrorInvalidDevice;
  auto shared = shared_event::open(handle.location);
  if (shared == nullptr) return hipErrorInvalidHandle;
  *event = add_event(std::make_shared<event_object>(handle.location.device, handle.location.flags,
                                                    std::move(shared)));
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* data) {
  return api_call("hipIpcGetMemHandle", [=] {
    if (handle == nullptr) return hipErrorInvalidValue;
    int const device = owning_device(data);
    auto const shared = device < 0 ? std::nullopt : device_arena(device).share(data);
    if (!shared) return emulates_rocm() ? hipErrorInvalidDevicePointer : hipErrorInvalidValue;
    write_handle(*handle,
                 memory_handle{memory_handle::expected_magic, this_process(), *shared, device});
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipIpcOpenMemHandle(void** data, hipIpcMemHandle_t handle,
                                                 unsigned flags) {
  return api_call("hipIpcOpenMemHandle", [=, &handle] {
    if (data == nullptr || flags != hipIpcMemLazyEnablePeerAccess) return hipErrorInvalidValue;
    stream_captures::instance().refuse_unsafe_call();
    return open_memory(data, read_handle<memory_handle>(handle));
  });
}

ROCARRAY_HOST_API hipError_t hipIpcCloseMemHandle(void* data) {
  return api_call("hipIpcCloseMemHandle", [=] {
    int const device = owning_device(data);
    auto const found = device < 0 ? std::nullopt : device_arena(device).find(data);
    if (!found || !found->is_opened || found->data != data) return hipErrorInvalidValue;
    stream_captures::instance().refuse_unsafe_call();
    note_release(data, found->bytes, "hipIpcCloseMemHandle");
    scheduler::instance().wait_for_device(scheduler::all_devices);
    return device_arena(device).close_shared(data) ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return api_call("hipIpcGetEventHandle", [=] {
    if (handle == nullptr) return hipErrorInvalidValue;
    auto const exported = find_event(event);
    if (exported == nullptr || exported->shared == nullptr) return hipErrorInvalidHandle;
    write_handle(*handle,
                 event_handle_bytes{event_handle_bytes::expected_magic,
                                    exported->shared->location(exported->flags, exported->device)});
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return api_call("hipIpcOpenEventHandle", [=, &handle] {
    if (event == nullptr) return hipErrorInvalidValue;
    return open_event(event, read_handle<event_handle_bytes>(handle));
  });
}

ROCARRAY_HOST_API_END
