// SPDX-License-Identifier: MIT
#include <roc/detail/foreign_allocation.hpp>

#include <bit>
#include <cstdio>
#include <string>
#include <system_error>

#include <roc/native.hpp>

#include "base/format_bytes.hpp"
#include "memory/device/idle_memory.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::detail {
namespace {

void check_alignment(std::size_t alignment) {
  if (std::has_single_bit(alignment) && alignment <= memory_resource::alignment) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "a memory resource cannot align memory to " + std::to_string(alignment) +
                  " bytes; use a power of two up to " + std::to_string(memory_resource::alignment));
}

void check_current_device(memory_resource const& resource) {
  int const current = runtime::current_device();
  if (memory::device_of(resource) == current) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "memory resource of device " + std::to_string(resource.device_ordinal()) +
                  " called while device " + std::to_string(current) +
                  " is current; make the device of the resource current");
}

}  // namespace

void* allocate_for(memory_resource& resource, std::size_t bytes, std::size_t alignment,
                   native_stream* stream) {
  check_alignment(alignment);
  if (bytes == 0) return nullptr;
  check_current_device(resource);
  return resource.allocate_block(bytes, adopt_stream(stream)).data;
}

void deallocate_for(memory_resource& resource, void* data, std::size_t bytes,
                    native_stream* stream) noexcept {
  if (data == nullptr) return;
  bool is_deallocated = false;
  platform::retry_then_log([&] {
    // A null stream of a caller that has switched devices may be that of either device.
    if (memory::device_of(resource) != runtime::current_device()) return;
    resource.deallocate_block({data}, bytes, adopt_stream(stream));
    is_deallocated = true;
  });
  if (is_deallocated) return;
  // The stream is unknown, so that only idle devices tell that its work has finished. While a graph
  // is captured, they cannot be awaited, but the stream can.
  bool const is_awaited =
      !runtime::is_any_capture_active() || stream == nullptr ||
      ROCARRAY_HIP_QUIET(hipStreamSynchronize, reinterpret_cast<hipStream_t>(stream));
  if (is_awaited && runtime::synchronize_all_devices_quietly()) {
    return deallocate_idle(resource, data, bytes);
  }
  log_failed_deallocation(data, "the work that uses it cannot be awaited, and it is leaked");
}

void* allocate_idle(memory_resource& resource, std::size_t bytes, std::size_t alignment) {
  check_alignment(alignment);
  return memory::allocate_idle(resource, bytes).data;
}

void deallocate_idle(memory_resource& resource, void* data, std::size_t bytes) noexcept {
  resource.deallocate_block({data, nullptr, false}, bytes, {});
}

native_stream* handle_on(stream_ref stream, int device) {
  native_stream* const handle = reinterpret_cast<native_stream*>(runtime::handle(stream));
  if (runtime::device_of(stream, device) == device) return handle;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "memory resource of device " + std::to_string(device) +
                  " used with a stream of device " + std::to_string(stream.device_ordinal()) +
                  "; use a stream of the resource's device");
}

native_stream* handle_to_deallocate(stream_ref stream, int device, bool is_idle) {
  bool const is_usable = !runtime::is_handle_destroyed(stream.handle()) &&
                         runtime::device_of(stream, device) == device;
  if (is_usable) return stream.handle();
  if (!is_idle) wait_for_stream(stream, device);
  return nullptr;
}

void throw_foreign_out_of_memory(std::size_t bytes, char const* message) {
  std::string text = "a memory resource of another library cannot allocate " +
                     base::format_bytes(bytes) + ": " + message;
  // The message of another resource of this library ends with the advice.
  if (!text.ends_with(platform::out_of_memory_advice)) text += platform::out_of_memory_advice;
  throw out_of_memory(std::make_error_code(std::errc::not_enough_memory), text);
}

void throw_misaligned(void const* data) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", data);
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string("a memory resource of another library has returned memory at ") +
                  address + ", which is not aligned to " +
                  std::to_string(memory_resource::alignment) +
                  " bytes; use a resource that aligns its blocks");
}

}  // namespace roc::detail
