// SPDX-License-Identifier: MIT
#include <roc/detail/host_launch.hpp>
#include <roc/detail/launch.hpp>

#include <cstring>

#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"
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

// Calls f with the record of every array that the bytes hold an address of. What only looks like an
// address makes its array wait for too much, no more.
template <class F>
void for_each_record(void const* functor, std::size_t bytes, F f) {
  auto const* const begin = static_cast<std::byte const*>(functor);
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    void const* address = nullptr;
    std::memcpy(&address, begin + at, sizeof address);
    if (auto* const record = memory::find_record(address)) f(*record);
  }
}

}  // namespace

launch_scope::launch_scope(stream_ref stream, void const* functor, std::size_t bytes)
    : stream_(stream), before_(runtime::current_device()), functor_(functor), bytes_(bytes) {
  static_cast<void>(runtime::handle(stream));
  int const device = runtime::device_of(stream, before_);
  auto const mark = runtime::mark_of(stream, device);
  for_each_record(functor, bytes, [&](memory::allocation_record& each) { each.begin_use(mark); });
  if (device != before_) ROCARRAY_HIP(hipSetDevice, device);
}

launch_scope::~launch_scope() {
  if (runtime::device_of(stream_, before_) != before_) ROCARRAY_HIP_QUIET(hipSetDevice, before_);
}

void launch_scope::check(int code) const {
  platform::check_launch("for_each kernel", static_cast<hipError_t>(code));
  // A kernel that runs must not outlive what the caller frees after an error.
  runtime::enqueue_noted(stream_, [&] {
    auto const mark = runtime::mark_of(stream_, runtime::device_of(stream_, before_));
    if (!mark.is_foreign()) return;
    for_each_record(functor_, bytes_, [&](memory::allocation_record& each) {
      if (each.own != mark) each.finish_use(mark);
    });
  });
}

}  // namespace roc::detail
