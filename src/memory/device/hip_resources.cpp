// SPDX-License-Identifier: MIT
#include <roc/memory/hip_resources.hpp>

#include <cstdint>
#include <string>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/peer_access.hpp"
#include "runtime/stream_handle.hpp"

namespace roc {
namespace {

hipMemPool_t as_pool(void* pool) { return static_cast<hipMemPool_t>(pool); }

}  // namespace

hip_memory_resource::hip_memory_resource(int device, detail::caller at)
    : device_((detail::call_scope("hip_memory_resource", at), runtime::checked_device(device))) {}

void* hip_memory_resource::do_allocate(std::size_t bytes, stream_ref) {
  runtime::on_device const guard(device_);
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  return data;
}

detail::resource_block hip_memory_resource::do_allocate_block(std::size_t bytes,
                                                              stream_ref stream) {
  // hipFree blocks until all work on the device has finished, so that no work uses what hipMalloc
  // returns.
  return {do_allocate(bytes, stream), nullptr, false, true};
}

bool hip_memory_resource::do_can_release() const noexcept { return true; }

void hip_memory_resource::do_deallocate(void* data, std::size_t, stream_ref) noexcept {
  platform::retry_then_log([&] {
    runtime::on_device const guard(device_);
    // hipFree blocks until all work on the device has finished, so that the memory is not reused
    // too early.
    ROCARRAY_HIP(hipFree, data);
  });
}

bool hip_memory_resource::do_is_equal(memory_resource const& other) const noexcept {
  auto const* const same = dynamic_cast<hip_memory_resource const*>(&other);
  return same != nullptr && same->device_ == device_;
}

int hip_memory_resource::do_device_ordinal() const noexcept { return device_; }

hip_async_memory_resource::hip_async_memory_resource(int device, detail::caller at)
    : device_(
          (detail::call_scope("hip_async_memory_resource", at), runtime::checked_device(device))),
      pool_(nullptr) {
  detail::call_scope const call(__func__, at);
  int supported = 0;
  hipError_t const result = ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &supported,
                                              hipDeviceAttributeMemoryPoolsSupported, device_);
  // Old HIP headers cannot query this attribute on CUDA: then the calls below fail if there is no
  // pool.
  if (result == hipSuccess && supported == 0) {
    throw error(std::make_error_code(std::errc::not_supported),
                "device " + std::to_string(device_) + " has no memory pool; use pool_resource");
  }
  runtime::on_device const guard(device_);
  // By default the pool returns its free memory to the driver at every synchronization, and is as
  // slow as hipMalloc.
  std::uint64_t keep = UINT64_MAX;
  hipMemPool_t pool = nullptr;
  ROCARRAY_HIP(hipDeviceGetDefaultMemPool, &pool, device_);
  ROCARRAY_HIP(hipMemPoolSetAttribute, pool, native_detail::release_threshold, &keep);
  runtime::share_pool(device_, pool);
  pool_ = pool;
}

void* hip_async_memory_resource::do_allocate(std::size_t bytes, stream_ref stream) {
  runtime::on_device const guard(device_);
  void* data = nullptr;
  // hipMallocAsync allocates from the current pool, which need not be the default one.
  ROCARRAY_HIP(hipMallocFromPoolAsync, &data, bytes, as_pool(pool_), runtime::handle(stream));
  return data;
}

detail::resource_block hip_async_memory_resource::do_allocate_block(std::size_t bytes,
                                                                    stream_ref stream) {
  // The constructor has shared the pool with the peers.
  return {do_allocate(bytes, stream), nullptr, true, true, true};
}

void hip_async_memory_resource::do_deallocate(void* data, std::size_t, stream_ref stream) noexcept {
  platform::retry_then_log([&] {
    runtime::on_device const guard(device_);
    // Another thread may have destroyed the stream meanwhile.
    bool const is_destroyed = runtime::is_handle_destroyed(stream.handle());
    if (is_destroyed) runtime::synchronize_device(device_);
    ROCARRAY_HIP(hipFreeAsync, data, runtime::handle(is_destroyed ? stream_ref() : stream));
  });
}

bool hip_async_memory_resource::do_is_equal(memory_resource const& other) const noexcept {
  auto const* const same = dynamic_cast<hip_async_memory_resource const*>(&other);
  return same != nullptr && same->device_ == device_;
}

int hip_async_memory_resource::do_device_ordinal() const noexcept { return device_; }

void hip_async_memory_resource::do_trim() {
  runtime::on_device const guard(device_);
  ROCARRAY_HIP(hipMemPoolTrimTo, as_pool(pool_), 0);
}

}  // namespace roc
