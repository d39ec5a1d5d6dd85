// SPDX-License-Identifier: MIT
#include <roc/device.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"

namespace roc {
namespace {

// Zero where the runtime does not know the attribute: new ones drop some, old ones lack some.
int attribute(int ordinal, hipDeviceAttribute_t which) {
  int value = 0;
  hipError_t const result = ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &value, which, ordinal);
  if (result == hipErrorInvalidValue) return 0;
  if (result != hipSuccess) ROCARRAY_HIP(hipDeviceGetAttribute, &value, which, ordinal);
  return value;
}

std::size_t bytes(int ordinal, hipDeviceAttribute_t which) {
  return static_cast<std::size_t>(attribute(ordinal, which));
}

}  // namespace

int device::multiprocessor_count() const {
  return attribute(ordinal_, hipDeviceAttributeMultiprocessorCount);
}

int device::warp_size() const { return attribute(ordinal_, hipDeviceAttributeWarpSize); }

int device::max_threads_per_block() const {
  return attribute(ordinal_, hipDeviceAttributeMaxThreadsPerBlock);
}

std::size_t device::shared_memory_per_block() const {
  return bytes(ordinal_, hipDeviceAttributeMaxSharedMemoryPerBlock);
}

std::size_t device::l2_cache_size() const {
  return bytes(ordinal_, hipDeviceAttributeL2CacheSize);
}

roc::compute_capability device::compute_capability() const {
  return {attribute(ordinal_, hipDeviceAttributeComputeCapabilityMajor),
          attribute(ordinal_, hipDeviceAttributeComputeCapabilityMinor)};
}

int device::clock_rate() const { return attribute(ordinal_, hipDeviceAttributeClockRate); }

int device::memory_clock_rate() const {
  return attribute(ordinal_, hipDeviceAttributeMemoryClockRate);
}

int device::memory_bus_width() const {
  return attribute(ordinal_, hipDeviceAttributeMemoryBusWidth);
}

int device::async_engine_count() const {
  return attribute(ordinal_, hipDeviceAttributeAsyncEngineCount);
}

bool device::is_integrated() const {
  return attribute(ordinal_, hipDeviceAttributeIntegrated) != 0;
}

bool device::can_map_host_memory() const {
  return attribute(ordinal_, hipDeviceAttributeCanMapHostMemory) != 0;
}

bool device::has_unified_addressing() const {
  // AMD's old runtimes and HIP's wrapper for NVIDIA do not know the attribute. All devices that
  // they run on have it.
  int value = 0;
  hipError_t const result =
      ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &value, hipDeviceAttributeUnifiedAddressing, ordinal_);
  if (result == hipErrorInvalidValue) return true;
  if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipDeviceGetAttribute, result,
                           std::source_location::current());
  }
  return value != 0;
}

bool device::has_managed_memory() const {
  return attribute(ordinal_, hipDeviceAttributeManagedMemory) != 0;
}

bool device::has_concurrent_managed_access() const {
  return attribute(ordinal_, hipDeviceAttributeConcurrentManagedAccess) != 0;
}

bool device::has_pageable_memory_access() const {
  return attribute(ordinal_, hipDeviceAttributePageableMemoryAccess) != 0;
}

bool device::has_cooperative_launch() const {
  return attribute(ordinal_, hipDeviceAttributeCooperativeLaunch) != 0;
}

bool device::can_access_peer(device const& other) const {
  int can = 0;
  ROCARRAY_HIP(hipDeviceCanAccessPeer, &can, ordinal_, other.ordinal_);
  return can != 0;
}

stream_priority_range device::stream_priorities() const {
  runtime::on_device const guard(ordinal_);
  stream_priority_range range{};
  ROCARRAY_HIP(hipDeviceGetStreamPriorityRange, &range.least, &range.greatest);
  return range;
}

}  // namespace roc
