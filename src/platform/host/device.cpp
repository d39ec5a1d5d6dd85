// SPDX-License-Identifier: MIT
#include "platform/host/device.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "platform/host/engine.hpp"
#include "platform/host/entry.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

thread_local int current = 0;

bool exists(int device) { return device >= 0 && device < the_settings().devices; }

hipError_t give(char const* text, char* to, int length) {
  if (to == nullptr || length <= 0) return hipErrorInvalidValue;
  std::snprintf(to, static_cast<std::size_t>(length), "%s", text);
  return hipSuccess;
}

// Clocks and widths are unknown, which is 0: a CPU's are not those of a device's memory.
hipError_t attribute_of(hipDeviceAttribute_t attribute, int device, int& value) {
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount: value = the_settings().threads; break;
    case hipDeviceAttributeWarpSize: value = 32; break;
    case hipDeviceAttributeMaxThreadsPerBlock: value = 1024; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: value = 65536; break;
    case hipDeviceAttributeUnifiedAddressing: value = 1; break;
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeIntegrated:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeCanMapHostMemory: value = 1; break;
    case hipDeviceAttributeAsyncEngineCount: value = 2; break;
    case hipDeviceAttributePciBusId: value = device; break;
    case hipDeviceAttributeClockRate:
    case hipDeviceAttributeMemoryClockRate:
    case hipDeviceAttributeMemoryBusWidth:
    case hipDeviceAttributeL2CacheSize:
    case hipDeviceAttributeComputeCapabilityMajor:
    case hipDeviceAttributeComputeCapabilityMinor:
    case hipDeviceAttributePageableMemoryAccess:
    case hipDeviceAttributePciDeviceId:
    case hipDeviceAttributePciDomainID: value = 0; break;
    case hipDeviceAttributeManagedMemory:
      value = the_settings().managed_memory != managed::off;
      break;
    case hipDeviceAttributeConcurrentManagedAccess:
      value = the_settings().managed_memory == managed::full;
      break;
#if !defined(ROCARRAY_FAKE_RUNTIME)
    case hipDeviceAttributeHostRegisterSupported: value = 1; break;
#endif
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

#if defined(ROCARRAY_FAKE_RUNTIME)
constexpr int runtime_version = HIP_VERSION;
#else
constexpr int runtime_version = 100;  // 0.1 of the library's own
#endif

}  // namespace

int current_device() noexcept { return current; }

}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipGetDeviceCount(int* count) {
  return call(
      "hipGetDeviceCount",
      [=] {
        if (count == nullptr) return hipErrorInvalidValue;
        *count = the_settings().devices;
        return *count == 0 ? hipErrorNoDevice : hipSuccess;
      },
      false);
}

ROCARRAY_HOST_API hipError_t hipGetDevice(int* device) {
  return call("hipGetDevice", [=] {
    if (device == nullptr) return hipErrorInvalidValue;
    *device = current;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipSetDevice(int device) {
  return call("hipSetDevice", [=] {
    if (!exists(device)) return hipErrorInvalidDevice;
    current = device;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute,
                                              int device) {
  return call("hipDeviceGetAttribute", [=] {
    if (value == nullptr) return hipErrorInvalidValue;
    if (!exists(device)) return hipErrorInvalidDevice;
    return attribute_of(attribute, device, *value);
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return call("hipDeviceGetName", [=] {
    if (!exists(device)) return hipErrorInvalidDevice;
    std::string const host = "rocarray host device " + std::to_string(device);
    return give(is_fake_runtime ? "rocarray CPU double (no GPU)" : host.c_str(), name, length);
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetPCIBusId(char* id, int length, int device) {
  return call("hipDeviceGetPCIBusId", [=] {
    if (!exists(device)) return hipErrorInvalidDevice;
    char text[32];
    int const needed =
        std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device)) + 1;
    if (length < needed) return hipErrorInvalidValue;  // half an address is another's
    return give(text, id, length);
  });
}

// Every kernel and copy reaches the memory of all devices here.
ROCARRAY_HOST_API hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("hipDeviceCanAccessPeer", [=] {
    if (can == nullptr) return hipErrorInvalidValue;
    if (!exists(device) || !exists(peer)) return hipErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceSynchronize() {
  return call("hipDeviceSynchronize", [] {
    engine::instance().wait_for_device(current);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipRuntimeGetVersion(int* version) {
  return call(
      "hipRuntimeGetVersion",
      [=] {
        if (version == nullptr) return hipErrorInvalidValue;
        *version = runtime_version;
        return hipSuccess;
      },
      false);
}

ROCARRAY_HOST_API hipError_t hipDriverGetVersion(int* version) {
  return call(
      "hipDriverGetVersion",
      [=] {
        if (version == nullptr) return hipErrorInvalidValue;
        *version = runtime_version;
        return hipSuccess;
      },
      false);
}

ROCARRAY_HOST_API_END
