// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>

#include <roc/device.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/error.hpp>

#include "platform/log_if_throws.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"
#include "runtime/stream_id.hpp"

namespace roc {
namespace {

hipMemPool_t pool_of(int device) {
  hipMemPool_t pool = nullptr;
  ROCARRAY_HIP(hipDeviceGetDefaultMemPool, &pool, device);
  return pool;
}

}  // namespace

hip_async_memory_resource::hip_async_memory_resource(int device)
    : device_(roc::device(device >= 0 ? device : runtime::current_device()).ordinal()) {
  int supported = 0;
  hipError_t const asked = ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &supported,
                                        hipDeviceAttributeMemoryPoolsSupported, device_);
  // Old headers of HIP do not ask CUDA for it: then the call below tells.
  if (asked == hipSuccess && supported == 0) {
    throw error(std::make_error_code(std::errc::not_supported),
                "device " + std::to_string(device_) +
                    " has no memory pool of its own: use pool_resource");
  }
  runtime::on_device const guard(device_);
  // By default the pool gives everything back at every synchronisation, and is as slow as
  // hipMalloc.
  std::uint64_t keep = UINT64_MAX;
  ROCARRAY_HIP(hipMemPoolSetAttribute, pool_of(device_), native_detail::release_threshold, &keep);
}

void* hip_async_memory_resource::do_allocate(std::size_t bytes, stream_ref stream) {
  runtime::on_device const guard(device_);
  void* data = nullptr;
  ROCARRAY_HIP(hipMallocAsync, &data, bytes, runtime::handle(stream));
  return data;
}

void hip_async_memory_resource::do_deallocate(void* data, std::size_t, stream_ref stream) noexcept {
  platform::try_twice([&] {
    runtime::on_device const guard(device_);
    memory::order_after_uses(data, runtime::mark_of(stream, device_));
    ROCARRAY_HIP(hipFreeAsync, data, runtime::handle(stream));
  });
}

bool hip_async_memory_resource::do_is_equal(memory_resource const& other) const noexcept {
  auto const* const same = dynamic_cast<hip_async_memory_resource const*>(&other);
  return same != nullptr && same->device_ == device_;
}

int hip_async_memory_resource::do_device_ordinal() const noexcept { return device_; }

void hip_async_memory_resource::do_trim() {
  runtime::on_device const guard(device_);
  ROCARRAY_HIP(hipMemPoolTrimTo, pool_of(device_), 0);
}

}  // namespace roc
