// SPDX-License-Identifier: MIT
#include <roc/detail/foreign_allocation.hpp>

#include <bit>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <system_error>

#include <roc/native.hpp>

#include "base/error.hpp"
#include "base/format_bytes.hpp"
#include "memory/device/idle_memory.hpp"
#include "memory/device/memory_kind.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::detail {
namespace {

// Returns the device of the resource, or the current one if it names none.
int device_of(memory_resource const& resource) {
  int const device = resource.device_ordinal();
  return device >= 0 ? device : runtime::current_device();
}

void check_alignment(std::size_t alignment) {
  if (std::has_single_bit(alignment) && alignment <= memory_resource::alignment) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              "a memory resource cannot align memory to " + std::to_string(alignment) +
                  " bytes; use a power of two up to " + std::to_string(memory_resource::alignment));
}

void check_current_device(memory_resource const& resource) {
  int const current = runtime::current_device();
  if (device_of(resource) == current) return;
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
  bool const is_deallocated = platform::retry_then_log([&] {
    stream_ref const work_stream = adopt_stream(stream);
    bool const is_same_device = device_of(resource) == runtime::current_device();
    if (!is_same_device) work_stream.synchronize();
    resource.deallocate_block({data, nullptr, is_same_device}, bytes,
                              is_same_device ? work_stream : stream_ref());
  });
  if (is_deallocated) return;
  // The stream is unknown, so that only an idle device tells that its work has finished.
  if (runtime::synchronize_all_devices_quietly()) return deallocate_idle(resource, data, bytes);
  log_failed_deallocation(data, "the work that uses it cannot be awaited, and it is leaked");
}

void* allocate_idle(memory_resource& resource, std::size_t bytes, std::size_t alignment) {
  check_alignment(alignment);
  return memory::allocate_idle(resource, bytes).data;
}

void deallocate_idle(memory_resource& resource, void* data, std::size_t bytes) noexcept {
  resource.deallocate_block({data, nullptr, false}, bytes, {});
}

void check_accessible(memory_resource const& resource, bool from_host, bool from_device) {
  std::optional<host_memory> const kind = resource.host_kind();
  char const* const name = kind ? memory::name_of(*kind) : "device";
  char const* missing = nullptr;
  if (from_host && !kind) missing = "the host";
  if (from_device && kind == host_memory::pageable) missing = "the device";
  if (missing == nullptr) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string("the memory resource allocates ") + name + " memory, which " + missing +
                  " cannot access; use a resource of pinned or managed memory");
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
  if (!is_idle) wait_to_deallocate(stream, device);
  return nullptr;
}

void wait_to_deallocate(stream_ref stream, int device) { memory::wait_for_stream(stream, device); }

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

void log_failed_deallocation(void const* data, char const* message) noexcept {
  char text[300];
  std::snprintf(text, sizeof text, "the deallocation of memory at %p failed: %s", data, message);
  base::log_error(text);
}

}  // namespace roc::detail
