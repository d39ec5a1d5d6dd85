// SPDX-License-Identifier: MIT
// Allocation and registration of memory, and the attributes of pointers.
#include "base/byte_range.hpp"
#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/host_ranges.hpp"
#include "platform/host/peer_access.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Frees and deregistrations block until all work of all devices is done, except frees of memory of
// pools. Real runtimes wait for at least one device.
void wait_for_all_devices() { scheduler::instance().wait_for_device(scheduler::all_devices); }

// Returns true if a free of memory of a pool does not wait for work that uses it: under the rules
// of CUDA, and of ROCm from version 7 on.
bool frees_pool_memory_at_once() {
  return !emulates_rocm() || host_settings().emulated >= runtime_rules::rocm7;
}

// Sets the type of memory, whose member has another name in old HIP.
template <class Attributes>
void set_type(Attributes& attributes, hipMemoryType type) {
  if constexpr (requires { attributes.type; }) {
    attributes.type = type;
  } else {
    attributes.memoryType = type;
  }
}

// Returns the type of managed memory: that of device memory in old HIP, which has no other.
template <class Type = hipMemoryType>
constexpr Type managed_type() {
  if constexpr (requires { Type::hipMemoryTypeManaged; }) {
    return Type::hipMemoryTypeManaged;
  } else {
    return Type::hipMemoryTypeDevice;
  }
}

// Returns true if attributes can tell unknown memory from other memory: not with the header of HIP
// 5, in which the type 0 is host memory.
template <class Type = hipMemoryType>
constexpr bool has_unregistered_type() {
  return requires { Type::hipMemoryTypeUnregistered; };
}

// Sets the attributes of a pointer. Returns the result of hipPointerGetAttributes.
hipError_t read_attributes(hipPointerAttribute_t& attributes, void const* data) {
  constexpr int no_device = -2;
  attributes = {};
  if (data == nullptr && emulates_rocm()) return hipErrorInvalidValue;
  if (int const device = owning_device(data); device >= 0) {
    if (!device_arena(device).find(data)) return hipErrorInvalidValue;
    set_type(attributes, hipMemoryTypeDevice);
    attributes.device = device;
    attributes.devicePointer = const_cast<void*>(data);
    return hipSuccess;
  }
  auto const range = host_ranges::instance().find(data);
  if (!range) {
    attributes.device = no_device;
    // CUDA, and HIP from version 6 on, report unknown memory as unregistered instead of failing.
    bool const is_reported =
        has_unregistered_type() && host_settings().emulated != runtime_rules::rocm5;
    return is_reported ? hipSuccess : hipErrorInvalidValue;
  }
  auto const* const byte = static_cast<std::byte const*>(data);
  bool const is_device_address = !is_within(data, range->data, range->bytes);
  std::ptrdiff_t const offset = byte - (is_device_address ? range->device : range->data);
  set_type(attributes, range->managed ? managed_type() : hipMemoryTypeHost);
  attributes.isManaged = range->managed;
  attributes.device = range->ordinal;
  attributes.hostPointer = range->data + offset;
  attributes.devicePointer = host_ranges::instance().device_address(range->data + offset);
  attributes.allocationFlags = range->flags;
  return hipSuccess;
}

// Returns the block that contains an address: memory of a device, or host memory that devices can
// access, at the address of the CPU or at that of the devices. Empty if there is none.
base::byte_range block_of(void const* data) {
  if (int const device = owning_device(data); device >= 0) {
    auto const allocated = device_arena(device).find(data);
    return allocated ? base::byte_range::of(allocated->data, allocated->bytes) : base::byte_range{};
  }
  auto const range = host_ranges::instance().find(data);
  if (!range) return {};
  bool const is_host_address = is_within(data, range->data, range->bytes);
  return base::byte_range::of(is_host_address ? range->data : range->device, range->bytes);
}

// Frees memory for hipHostFree if `is_host_call`, else for hipFree. Under the rules of ROCm both
// free memory of every kind, also by an address inside it.
hipError_t free_memory(void* data, bool is_host_call) {
  if (data == nullptr) return hipSuccess;
  stream_captures::instance().refuse_unsafe_call();
  // A call that fails does not wait: programs must not depend on it as a synchronization.
  if (int const device = owning_device(data); device >= 0) {
    auto const allocated = device_arena(device).find(data);
    if (!allocated || allocated->is_opened) return hipErrorInvalidValue;
    bool const is_exact = !is_host_call && allocated->data == data;
    if (!is_exact && !emulates_rocm()) return hipErrorInvalidValue;
    if (!device_arena(device).begin_free(allocated->data)) return hipErrorInvalidValue;
    if (!allocated->is_from_pool || !frees_pool_memory_at_once()) {
      note_release(allocated->data, allocated->bytes, is_host_call ? "hipHostFree" : "hipFree");
      wait_for_all_devices();
    }
    note_device_free(allocated->data, false);
    return device_arena(device).free(allocated->data) ? hipSuccess : hipErrorInvalidValue;
  }
  auto const range = host_ranges::instance().find(data);
  if (!range || range->registered) return hipErrorInvalidValue;
  bool const is_exact = range->managed != is_host_call && range->data == data;
  if (!is_exact && !emulates_rocm()) return hipErrorInvalidValue;
  note_release(range->data, range->bytes, is_host_call ? "hipHostFree" : "hipFree");
  wait_for_all_devices();
  return host_ranges::instance().free(range->data);
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMalloc(void** data, std::size_t bytes) {
  return api_call("hipMalloc", [=] {
    if (data == nullptr) return hipErrorInvalidValue;
    stream_captures::instance().refuse_unsafe_call();
    *data = nullptr;
    if (bytes == 0) return hipSuccess;
    *data = device_arena(current_device()).allocate(bytes);
    note_device_allocation(*data, bytes, false);
    return *data == nullptr ? hipErrorOutOfMemory : hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipFree(void* data) {
  return api_call("hipFree", [=] { return free_memory(data, false); });
}

ROCARRAY_HOST_API hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  return api_call("hipMemGetInfo", [=] {
    bool const is_incomplete = free == nullptr || total == nullptr;
    if (is_incomplete && !emulates_rocm()) return hipErrorInvalidValue;
    arena const& memory = device_arena(current_device());
    if (free != nullptr) *free = memory.free_bytes();
    if (total != nullptr) *total = memory.capacity();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipHostMalloc(void** data, std::size_t bytes, unsigned flags) {
  return api_call("hipHostMalloc", [=] {
    stream_captures::instance().refuse_unsafe_call();
    return host_ranges::instance().allocate(data, bytes, flags);
  });
}

ROCARRAY_HOST_API hipError_t hipHostFree(void* data) {
  return api_call("hipHostFree", [=] { return free_memory(data, true); });
}

ROCARRAY_HOST_API hipError_t hipHostGetFlags(unsigned* flags, void* data) {
  return api_call("hipHostGetFlags", [=] {
    auto const range = host_ranges::instance().find(data);
    if (flags == nullptr || !range || range->registered || range->managed) {
      return hipErrorInvalidValue;
    }
    *flags = range->flags;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api_call("hipHostGetDevicePointer", [=] {
    if (device == nullptr || flags != 0) return hipErrorInvalidValue;
    // Only a host address is valid: the device address may differ.
    std::byte* const address = host_ranges::instance().device_address(host);
    if (address == nullptr) return hipErrorInvalidValue;
    *device = address;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipHostRegister(void* data, std::size_t bytes, unsigned flags) {
  return api_call("hipHostRegister", [=] {
    if (owning_device(data) >= 0 || owning_device(last_byte(data, bytes)) >= 0) {
      return hipErrorInvalidValue;
    }
    return host_ranges::instance().add(data, bytes, flags);
  });
}

ROCARRAY_HOST_API hipError_t hipHostUnregister(void* data) {
  return api_call("hipHostUnregister", [=] {
    if (data == nullptr) return hipErrorInvalidValue;
    if (host_ranges::instance().is_registered_at(data)) {
      if (auto const range = host_ranges::instance().find(data)) {
        note_release(range->data, range->bytes, "hipHostUnregister");
      }
      wait_for_all_devices();
    }
    return host_ranges::instance().remove(data);
  });
}

ROCARRAY_HOST_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                     void const* data) {
  return api_call("hipPointerGetAttributes", [=] {
    if (attributes == nullptr) return hipErrorInvalidValue;
    return read_attributes(*attributes, data);
  });
}

ROCARRAY_HOST_API hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute,
                                                    hipDeviceptr_t data) {
  return api_call("hipPointerGetAttribute", [=] {
    auto const block = block_of(data);
    if (value == nullptr || block.bytes() == 0) return hipErrorInvalidValue;
    if (attribute == HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR) {
      *static_cast<std::uintptr_t*>(value) = block.begin;
    } else if (attribute == HIP_POINTER_ATTRIBUTE_RANGE_SIZE) {
      *static_cast<std::size_t*>(value) = block.bytes();
    } else if (attribute == HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS) {
      *static_cast<int*>(value) = can_access_memory(current_device(), data)
                                      ? hipMemAccessFlagsProtReadWrite
                                      : hipMemAccessFlagsProtNone;
    } else if (attribute == HIP_POINTER_ATTRIBUTE_BUFFER_ID && owning_device(data) >= 0) {
      *static_cast<std::uint64_t*>(value) = device_arena(owning_device(data)).find(data)->number;
    } else {
      return hipErrorInvalidValue;
    }
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
