// SPDX-License-Identifier: MIT
#include "platform/pointer.hpp"

#include <source_location>

#include "platform/call.hpp"
#if ROCARRAY_PLATFORM_HOST
#include "platform/host/settings.hpp"
#endif

namespace roc::platform {
namespace {

// Returns true if the runtime returns hipErrorInvalidValue only for memory that was freed. ROCm
// before version 6 and CUDA return it for all memory that they do not know.
[[maybe_unused]] bool rejects_only_freed() {
#if ROCARRAY_PLATFORM_NVIDIA
  return false;
#elif ROCARRAY_PLATFORM_AMD
  return HIP_VERSION_MAJOR >= 6;
#else
  return host_hip::host_settings().emulated != host_hip::runtime_rules::rocm5;
#endif
}

// HIP's type of device addresses is a pointer or, on NVIDIA, a number.
hipDeviceptr_t device_pointer(std::uintptr_t address) noexcept {
  return (hipDeviceptr_t)(address);  // NOLINT: static_cast or reinterpret_cast
}

// HIP's headers for NVIDIA report managed memory as memory that CUDA does not know.
#if ROCARRAY_PLATFORM_NVIDIA && !ROCARRAY_NATIVE_ALIAS
#define ROCARRAY_ASK_FOR_MANAGED_MEMORY 1
pointer_information query_managed(void const* data) {
  auto const address = reinterpret_cast<std::uintptr_t>(data);
  unsigned is_managed = 0;
  if (ROCARRAY_HIP_CODE(hipPointerGetAttribute, &is_managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED,
                        device_pointer(address)) != hipSuccess ||
      is_managed == 0) {
    return {};
  }
  pointer_information result{.kind = native_detail::memory_kind::managed,
                             .device_address = address,
                             .host_address = address};
  ROCARRAY_HIP(hipPointerGetAttribute, &result.device, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
               device_pointer(address));
  return result;
}
#endif

}  // namespace

pointer_information query_pointer(void const* data) {
  hipPointerAttribute_t attributes{};
  hipError_t const result = ROCARRAY_HIP_CODE(hipPointerGetAttributes, &attributes, data);
  // Unknown memory is hipErrorInvalidValue for some runtimes, and a kind for the others.
  if (means_no_device(result)) return {};
#if ROCARRAY_ASK_FOR_MANAGED_MEMORY
  if (result == hipErrorInvalidValue) return query_managed(data);
#else
  if (result == hipErrorInvalidValue) return {.is_freed = rejects_only_freed()};
#endif
  if (result != hipSuccess) {
    detail::fail(call::call_hipPointerGetAttributes, result, std::source_location::current());
  }
  return {.kind = native_detail::kind_of(attributes),
          .device = attributes.device,
          .device_address = reinterpret_cast<std::uintptr_t>(attributes.devicePointer),
          .host_address = reinterpret_cast<std::uintptr_t>(attributes.hostPointer)};
}

std::optional<base::byte_range> query_block(std::uintptr_t address) {
  base::byte_range block;
  std::size_t bytes = 0;
  hipDeviceptr_t const data = device_pointer(address);
  bool const is_known =
      ROCARRAY_HIP_CODE(hipPointerGetAttribute, &block.begin,
                        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, data) == hipSuccess &&
      ROCARRAY_HIP_CODE(hipPointerGetAttribute, &bytes, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, data) ==
          hipSuccess;
  // Not the bounds of this address if the runtime knows the memory by another one.
  if (!is_known || address - block.begin >= bytes) return std::nullopt;
  block.end = block.begin + bytes;
  return block;
}

bool is_accessible([[maybe_unused]] void const* data) {
#if ROCARRAY_PLATFORM_AMD
  return false;
#else
  auto const pointer = device_pointer(reinterpret_cast<std::uintptr_t>(data));
#if ROCARRAY_PLATFORM_NVIDIA
  // CUDA 13.0 says that peers have access to all memory of pools, also if the pool is not shared.
  void* pool = nullptr;
  if (ROCARRAY_HIP_CODE(hipPointerGetAttribute, &pool, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                        pointer) != hipSuccess ||
      pool != nullptr) {
    return false;
  }
#endif
  int flags = 0;
  bool const is_known = ROCARRAY_HIP_CODE(hipPointerGetAttribute, &flags,
                                          HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS,
                                          pointer) == hipSuccess;
  return is_known && flags == static_cast<int>(native_detail::full_access);
#endif
}

std::uint64_t query_allocation_number(std::uintptr_t address) {
  std::uint64_t number = 0;  // some runtimes set 32 bits only
  bool const is_known =
      ROCARRAY_HIP_CODE(hipPointerGetAttribute, &number, HIP_POINTER_ATTRIBUTE_BUFFER_ID,
                        device_pointer(address)) == hipSuccess;
  return is_known ? number : 0;
}

}  // namespace roc::platform
