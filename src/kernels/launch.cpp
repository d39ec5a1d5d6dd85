// SPDX-License-Identifier: MIT
#include <roc/detail/host_launch.hpp>
#include <roc/detail/launch.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc::detail {

int launch_host_kernel(host_kernel kernel, std::size_t count, native_stream* stream) {
#if ROC_PLATFORM_HOST
  return host_hip::launch_host_kernel(reinterpret_cast<hipStream_t>(stream), count, kernel.run,
                            kernel.functor, kernel.destroy);
#else
  static_cast<void>(count);
  static_cast<void>(stream);
  kernel.destroy(kernel.functor);
  return hipErrorNotSupported;
#endif
}

launch_scope::launch_scope(stream_ref stream)
    : stream_(stream), before_(runtime::current_device()) {
  static_cast<void>(runtime::handle(stream));
  int const device = runtime::device_of(stream, before_);
  if (device != before_) ROC_HIP(hipSetDevice, device);
}

launch_scope::~launch_scope() {
  if (runtime::device_of(stream_, before_) != before_) ROC_HIP_QUIET(hipSetDevice, before_);
}

void launch_scope::check(int code) const {
  platform::check_launch("for_each kernel", static_cast<hipError_t>(code));
  // A kernel that runs must not outlive what the caller frees after an error.
  runtime::enqueue_noted(stream_, [] {});
}

}  // namespace roc::detail
