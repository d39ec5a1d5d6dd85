// SPDX-License-Identifier: MIT
#include <roc/memory/hip_resources.hpp>

#include <exception>

#include <roc/device.hpp>
#include <roc/error.hpp>

#include "platform/log_if_throws.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"

namespace roc {

hip_memory_resource::hip_memory_resource(int device)
    : device_(roc::device(device >= 0 ? device : runtime::current_device()).ordinal()) {}

void* hip_memory_resource::do_allocate(std::size_t bytes, stream_ref) {
  runtime::on_device const guard(device_);
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  return data;
}

void hip_memory_resource::do_deallocate(void* data, std::size_t, stream_ref) noexcept {
  platform::try_twice([&] {
    runtime::on_device const guard(device_);
    // hipFree waits for all work on the device: that is what keeps the memory from being used
    // again too early.
    ROCARRAY_HIP(hipFree, data);
  });
}

bool hip_memory_resource::do_is_equal(memory_resource const& other) const noexcept {
  auto const* const same = dynamic_cast<hip_memory_resource const*>(&other);
  return same != nullptr && same->device_ == device_;
}

int hip_memory_resource::do_device_ordinal() const noexcept { return device_; }

}  // namespace roc
