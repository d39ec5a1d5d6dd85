// SPDX-License-Identifier: MIT
// Allocation, registration, and what a pointer is.
#include "platform/host/arena.hpp"
#include "platform/host/device.hpp"
#include "platform/host/engine.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/host_memory.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Freeing and unregistering wait for all work of all devices, as the real calls do at least for
// one.
void wait_for_all() { engine::instance().wait_for_device(-1); }

template <class Attributes>
void set_type(Attributes& attributes, hipMemoryType type) {
  if constexpr (requires { attributes.type; }) {
    attributes.type = type;
  } else {
    attributes.memoryType = type;
  }
}

// Old HIP has no type of its own for it, and calls it device memory.
template <class Type = hipMemoryType>
constexpr Type managed_type() {
  if constexpr (requires { Type::hipMemoryTypeManaged; }) {
    return Type::hipMemoryTypeManaged;
  } else {
    return Type::hipMemoryTypeDevice;
  }
}

hipError_t describe(hipPointerAttribute_t& attributes, void const* data) {
  attributes = {};
  if (int const device = device_owning(data); device >= 0) {
    if (!memory_of(device).find(data)) return hipErrorInvalidValue;
    set_type(attributes, hipMemoryTypeDevice);
    attributes.device = device;
    attributes.devicePointer = const_cast<void*>(data);
    return hipSuccess;
  }
  auto const known = host_ranges::instance().find(data);
  if (!known) {
    attributes.device = -1;
    // CUDA, and HIP from version 6 on, have a word for memory that they do not know.
    return the_settings().registration == rules::rocm5 ? hipErrorInvalidValue : hipSuccess;
  }
  auto const* const byte = static_cast<std::byte const*>(data);
  bool const by_device = !within(data, known->data, known->bytes);
  std::ptrdiff_t const offset = byte - (by_device ? known->device : known->data);
  set_type(attributes, known->managed ? managed_type() : hipMemoryTypeHost);
  attributes.isManaged = known->managed;
  attributes.device = current_device();
  attributes.hostPointer = known->data + offset;
  attributes.devicePointer = known->device + offset;
  attributes.allocationFlags = known->flags;
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipMalloc(void** data, std::size_t bytes) {
  return call("hipMalloc", [=] {
    if (data == nullptr) return hipErrorInvalidValue;
    *data = nullptr;
    if (bytes == 0) return hipSuccess;
    *data = memory_of(current_device()).allocate(bytes);
    return *data == nullptr ? hipErrorOutOfMemory : hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipFree(void* data) {
  return call("hipFree", [=] {
    if (data == nullptr) return hipSuccess;
    int const device = device_owning(data);
    if (device < 0) {
      if (!host_ranges::instance().begins(data, host_ranges::kind::managed)) {
        return hipErrorInvalidValue;
      }
      wait_for_all();
      return host_ranges::instance().free(data, true);
    }
    // What is refused does not wait: a program could come to depend on it.
    auto const known = memory_of(device).find(data);
    if (!known || known->data != data) return hipErrorInvalidValue;
    wait_for_all();
    return memory_of(device).free(data) ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("hipMemGetInfo", [=] {
    if (free == nullptr || total == nullptr) return hipErrorInvalidValue;
    arena const& memory = memory_of(current_device());
    *free = memory.free_bytes();
    *total = memory.capacity();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipHostMalloc(void** data, std::size_t bytes, unsigned flags) {
  return call("hipHostMalloc",
              [=] { return host_ranges::instance().allocate(data, bytes, flags); });
}

ROCARRAY_HOST_API hipError_t hipHostFree(void* data) {
  return call("hipHostFree", [=] {
    if (host_ranges::instance().begins(data, host_ranges::kind::pinned)) wait_for_all();
    return host_ranges::instance().free(data, false);
  });
}

ROCARRAY_HOST_API hipError_t hipHostGetFlags(unsigned* flags, void* data) {
  return call("hipHostGetFlags", [=] {
    auto const known = host_ranges::instance().find(data);
    if (flags == nullptr || !known || known->registered || known->managed) {
      return hipErrorInvalidValue;
    }
    *flags = known->flags;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call("hipHostGetDevicePointer", [=] {
    if (device == nullptr || flags != 0) return hipErrorInvalidValue;
    auto const known = host_ranges::instance().find(host);
    auto* const byte = static_cast<std::byte*>(host);
    // By the host's address only: the device's may be another one.
    if (!known || !within(host, known->data, known->bytes)) return hipErrorInvalidValue;
    *device = known->device + (byte - known->data);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipHostRegister(void* data, std::size_t bytes, unsigned flags) {
  return call("hipHostRegister", [=] {
    if (device_owning(data) >= 0 || device_owning(last_byte(data, bytes)) >= 0) {
      return hipErrorInvalidValue;
    }
    return host_ranges::instance().add(data, bytes, flags);
  });
}

ROCARRAY_HOST_API hipError_t hipHostUnregister(void* data) {
  return call("hipHostUnregister", [=] {
    if (host_ranges::instance().begins(data, host_ranges::kind::registered)) wait_for_all();
    return host_ranges::instance().remove(data);
  });
}

ROCARRAY_HOST_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                void const* data) {
  return call("hipPointerGetAttributes", [=] {
    if (attributes == nullptr) return hipErrorInvalidValue;
    return describe(*attributes, data);
  });
}

ROCARRAY_HOST_API_END
