// SPDX-License-Identifier: MIT
#include <roc/device.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <system_error>

#include <roc/detail/strided_region.hpp>
#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/host_function_errors.hpp"
#include "runtime/peer_access.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

namespace roc {
namespace {

// Returns an attribute, or `if_unknown` if the runtime does not know it: new runtimes drop some
// attributes, old ones lack some. Throws roc::error.
int attribute(int ordinal, hipDeviceAttribute_t id, int if_unknown = 0) {
  int value = 0;
  hipError_t const result = ROCARRAY_HIP_CODE(hipDeviceGetAttribute, &value, id, ordinal);
  if (result == hipErrorInvalidValue) return if_unknown;
  if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipDeviceGetAttribute, result,
                           std::source_location::current());
  }
  return value;
}

std::size_t attribute_bytes(int ordinal, hipDeviceAttribute_t id) {
  return static_cast<std::size_t>(attribute(ordinal, id));
}

}  // namespace

device::device(detail::caller at)
    : ordinal_((detail::call_scope("device", at), runtime::current_device())) {}

device::device(int ordinal, detail::caller at) : ordinal_(ordinal) {
  detail::call_scope const call(__func__, at);
  int const devices = count();
  if (ordinal >= 0 && ordinal < devices) return;
  throw error({static_cast<int>(hipErrorInvalidDevice), hip_category()},
              "device " + std::to_string(ordinal) + " does not exist: this process sees " +
                  std::to_string(devices) + (devices == 1 ? " device" : " devices") +
                  "; use an ordinal below device::count()");
}

void detail::check_device_exists(int ordinal) {
  static int const devices = device::count();
  if (ordinal >= devices) static_cast<void>(device(ordinal));
}

int device::count(detail::caller at) {
  detail::call_scope const call(__func__, at);
  int devices = 0;  // a CUDA runtime without a driver does not set it
  hipError_t const result = ROCARRAY_HIP_CODE(hipGetDeviceCount, &devices);
  if (platform::means_no_device(result)) return 0;
  if (result != hipSuccess) {
    platform::detail::fail(platform::call::call_hipGetDeviceCount, result,
                           std::source_location::current());
  }
  return devices;
}

void device::make_current(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  ROCARRAY_HIP(hipSetDevice, ordinal_);
}

void device::synchronize(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  runtime::refuse_device_synchronization();
  runtime::on_device const guard(ordinal_);
  std::uint64_t const abandoned = runtime::abandoned_waits.load();
  runtime::reporting_failure(ordinal_, nullptr, [] { ROCARRAY_HIP(hipDeviceSynchronize); });
  if (abandoned != 0) [[unlikely]]
    runtime::record_idle_device(ordinal_, abandoned);
  runtime::rethrow_host_error(ordinal_);
}

std::string device::name(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  std::array<char, 256> text{};
  ROCARRAY_HIP(hipDeviceGetName, text.data(), static_cast<int>(text.size()), ordinal_);
  return text.data();
}

std::string device::pci_bus_id(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  std::array<char, 64> text{};
  ROCARRAY_HIP(hipDeviceGetPCIBusId, text.data(), static_cast<int>(text.size()), ordinal_);
  return text.data();
}

memory_information device::memory(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  runtime::on_device const guard(ordinal_);
  memory_information information{};
  ROCARRAY_HIP(hipMemGetInfo, &information.free, &information.total);
  return information;
}

int device::multiprocessor_count(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeMultiprocessorCount);
}

int device::warp_size(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeWarpSize);
}

int device::max_threads_per_block(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeMaxThreadsPerBlock);
}

std::size_t device::shared_memory_per_block(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute_bytes(ordinal_, hipDeviceAttributeMaxSharedMemoryPerBlock);
}

std::size_t device::l2_cache_size(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute_bytes(ordinal_, hipDeviceAttributeL2CacheSize);
}

roc::compute_capability device::compute_capability(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return {attribute(ordinal_, hipDeviceAttributeComputeCapabilityMajor),
          attribute(ordinal_, hipDeviceAttributeComputeCapabilityMinor)};
}

int device::clock_rate(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeClockRate);
}

int device::memory_clock_rate(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeMemoryClockRate);
}

int device::memory_bus_width(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeMemoryBusWidth);
}

int device::async_engine_count(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeAsyncEngineCount);
}

bool device::has_texture_units([[maybe_unused]] detail::caller at) const {
#if ROCARRAY_PLATFORM_NVIDIA
  return true;  // all devices of NVIDIA have them; HIP's headers do not translate the attribute
#else
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeImageSupport) != 0;
#endif
}

bool device::is_integrated(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeIntegrated) != 0;
}

bool device::can_map_host_memory(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeCanMapHostMemory) != 0;
}

bool device::has_unified_addressing(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  // Old AMD runtimes and HIP's CUDA headers do not know the attribute. All devices that they
  // support have it.
  return attribute(ordinal_, hipDeviceAttributeUnifiedAddressing, 1) != 0;
}

bool device::has_managed_memory(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeManagedMemory) != 0;
}

bool device::has_concurrent_managed_access(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeConcurrentManagedAccess) != 0;
}

bool device::has_pageable_memory_access(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributePageableMemoryAccess) != 0;
}

bool device::has_cooperative_launch(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return attribute(ordinal_, hipDeviceAttributeCooperativeLaunch) != 0;
}

bool device::can_access_peer(device const& other, detail::caller at) const {
  detail::call_scope const call(__func__, at);
  int result = 0;
  ROCARRAY_HIP(hipDeviceCanAccessPeer, &result, ordinal_, other.ordinal_);
  return result != 0;
}

bool device::can_access(device const& other, detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return *this == other || can_access_peer(other, at);
}

void device::enable_access(device const& other, detail::caller at) const {
  detail::call_scope const call(__func__, at);
  if (*this == other) return;
  std::string const pair = "device " + std::to_string(ordinal_) + " to the memory of device " +
                           std::to_string(other.ordinal_);
  switch (runtime::enable_peer_access(ordinal_, other.ordinal_)) {
    case runtime::peer_access::enabled: return;
    case runtime::peer_access::unavailable:
      throw error({static_cast<int>(hipErrorPeerAccessUnsupported), hip_category()},
                  "there is no access of " + pair +
                      ", because they are not connected; copy the memory with roc::copy");
    case runtime::peer_access::deferred: break;
  }
  throw error(std::make_error_code(std::errc::operation_not_permitted),
              "the access of " + pair +
                  " cannot be enabled while a graph is captured; enable it before the capture");
}

peer_link device::link_to(device const& other, detail::caller at) const {
  detail::call_scope const call(__func__, at);
  peer_link link;
  link.has_access = can_access(other, at);
  if (*this == other) return link;
  auto const attribute = [&](hipDeviceP2PAttr id) {
    int value = 0;
    ROCARRAY_HIP(hipDeviceGetP2PAttribute, &value, id, ordinal_, other.ordinal_);
    return value;
  };
  link.has_native_atomics = attribute(hipDevP2PAttrNativeAtomicSupported) != 0;
  std::uint32_t type = 0;
  std::uint32_t hops = 0;
  hipError_t const result =
      ROCARRAY_HIP_CODE(hipExtGetLinkTypeAndHopCount, ordinal_, other.ordinal_, &type, &hops);
  if (result == hipSuccess) {
    constexpr std::uint32_t pcie = 2;  // the numbers of ROCm's hsa_amd_link_info_type_t
    constexpr std::uint32_t xgmi = 4;
    link.hops = static_cast<int>(hops);
    link.type = type == xgmi   ? peer_link_type::gpu_fabric
                : type == pcie ? peer_link_type::pcie
                               : peer_link_type::unknown;
    // AMD's rank attribute is the type of the link, of which the fastest has the highest number.
    link.performance_rank = link.type == peer_link_type::gpu_fabric ? 0 : 1;
  } else if (result == hipErrorNotSupported) {
    link.type = link.has_native_atomics ? peer_link_type::gpu_fabric : peer_link_type::pcie;
    link.performance_rank = attribute(hipDevP2PAttrPerformanceRank);
  } else {
    platform::detail::fail(platform::call::call_hipExtGetLinkTypeAndHopCount, result,
                           std::source_location::current());
  }
  return link;
}

stream_priority_range device::stream_priorities(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  runtime::on_device const guard(ordinal_);
  stream_priority_range range{};
  ROCARRAY_HIP(hipDeviceGetStreamPriorityRange, &range.least, &range.greatest);
  return range;
}

device_guard::device_guard(device target, detail::caller at)
    : previous_device_((detail::call_scope("device_guard", at), runtime::current_device())) {
  target.make_current(at);
}

device_guard::~device_guard() { runtime::restore_current_device(previous_device_); }

}  // namespace roc
