// SPDX-License-Identifier: MIT
#include <roc/detail/launch.hpp>

#include <cstring>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc::detail {

int launch_host_kernel(host_kernel kernel, std::size_t count, native_stream* stream) {
#if ROCARRAY_PLATFORM_HOST
  return host_hip::launch_host_kernel(reinterpret_cast<hipStream_t>(stream), count, kernel.run,
                                      kernel.functor, kernel.destroy);
#else
  static_cast<void>(count);
  static_cast<void>(stream);
  kernel.destroy(kernel.functor);
  return hipErrorNotSupported;
#endif
}

namespace {

// Calls f(record) with the allocation record of every address among the functor's bytes: views hold
// the addresses of their arrays. Bytes that only look like an address make an array wait longer
// than needed, which is harmless.
template <class F>
void for_each_record(void const* functor, std::size_t bytes, F f) {
  auto const* const begin = static_cast<std::byte const*>(functor);
  for (std::size_t i = 0; i + sizeof(void*) <= bytes; i += sizeof(void*)) {
    void const* address = nullptr;
    std::memcpy(&address, begin + i, sizeof address);
    if (auto* const record = memory::find_record(address)) f(*record);
  }
}

// Records events after the uses by a foreign stream, which may be destroyed without notice. To be
// called also after an error. Throws roc::error.
void finish_uses(stream_ref stream, int device, void const* functor, std::size_t bytes) {
  auto const id = runtime::stream_id_of(stream, device);
  if (!id.is_foreign()) return;
  for_each_record(functor, bytes, [&](memory::allocation_record& record) {
    if (record.allocation_stream != id) record.finish_use(id);
  });
}

}  // namespace

launch_scope::launch_scope(stream_ref stream, void const* functor, std::size_t bytes)
    : stream_(stream),
      previous_device_(runtime::current_device()),
      functor_(functor),
      bytes_(bytes) {
  static_cast<void>(runtime::handle(stream));
  int const device = runtime::device_of(stream, previous_device_);
  auto const id = runtime::stream_id_of(stream, device);
  try {
    for_each_record(functor, bytes,
                    [&](memory::allocation_record& record) { record.begin_use(id); });
    if (device != previous_device_) ROCARRAY_HIP(hipSetDevice, device);
  } catch (...) {
    platform::log_if_throws([&] { finish_uses(stream, device, functor, bytes); });
    throw;
  }
}

launch_scope::~launch_scope() {
  if (runtime::device_of(stream_, previous_device_) != previous_device_)
    runtime::restore_current_device(previous_device_);
}

void launch_scope::check(int code) const {
  auto const finish = [&] {
    finish_uses(stream_, runtime::device_of(stream_, previous_device_), functor_, bytes_);
  };
  auto const result = static_cast<hipError_t>(code);
  if (result != hipSuccess) platform::log_if_throws(finish);
  platform::check_launch("for_each kernel", result);
  // If this fails, the kernel may be running: enqueue_and_record waits for it, because the caller
  // frees its memory next.
  runtime::enqueue_and_record(stream_, finish);
}

}  // namespace roc::detail
