// SPDX-License-Identifier: MIT
// Devices: number, current device, attributes, names, versions and synchronization.
#include <cstdint>
#include <cstdio>
#include <string>

#include "platform/host/api_call.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/grid.hpp"
#include "platform/host/peer_access.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Copies a text to the caller's buffer of `length` bytes; truncates it.
hipError_t copy_name(char const* text, char* buffer, int length) {
  if (buffer == nullptr || length <= 0) return hipErrorInvalidValue;
  std::snprintf(buffer, static_cast<std::size_t>(length), "%s", text);
  return hipSuccess;
}

// Clock rates and widths are 0, which means unknown: those of a CPU do not compare with a device's.
hipError_t read_attribute(hipDeviceAttribute_t attribute, int device, int& value) {
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount: value = host_settings().thread_count; break;
    case hipDeviceAttributeWarpSize: value = host_settings().warp_size; break;
    case hipDeviceAttributeMaxThreadsPerBlock:
      value = static_cast<int>(host_kernels::max_block_threads);
      break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
      value = static_cast<int>(max_shared_bytes());
      break;
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY: value = 1024; break;
    case hipDeviceAttributeMaxBlockDimZ: value = emulates_rocm() ? 1024 : 64; break;
    case hipDeviceAttributeMaxGridDimX: value = 0x7fffffff; break;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ: value = 65535; break;
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
    case hipDeviceAttributeImageSupport: value = host_settings().textures; break;
    case hipDeviceAttributeManagedMemory:
      value = host_settings().managed != managed_support::off;
      break;
    case hipDeviceAttributeConcurrentManagedAccess:
      value = host_settings().managed == managed_support::full;
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
constexpr int runtime_version = 100;  // the library's own numbering: 0.1
#endif

// Returns the version of the ROCm that the fake HIP runtime emulates, from which programs conclude
// what its calls do.
int emulated_version() {
  if constexpr (!is_fake_runtime) return runtime_version;
  switch (host_settings().emulated) {
    case runtime_rules::rocm5: return 50'200'000;
    case runtime_rules::rocm6: return 60'000'000;
    case runtime_rules::rocm7: return 70'000'000;
    case runtime_rules::cuda:
    case runtime_rules::cuda13: break;
  }
  return runtime_version;
}

// AMD's runtime returns the type of the link.
int performance_rank(bool has_gpu_link) {
#if defined(ROCARRAY_FAKE_RUNTIME)
  return has_gpu_link ? 4 : 2;
#else
  return has_gpu_link ? 0 : 1;
#endif
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipGetDeviceCount(int* count) {
  return api_call(
      "hipGetDeviceCount",
      [=] {
        if (count == nullptr) return hipErrorInvalidValue;
        *count = host_settings().device_count;
        return *count == 0 ? hipErrorNoDevice : hipSuccess;
      },
      false);
}

ROCARRAY_HOST_API hipError_t hipGetDevice(int* device) {
  return api_call("hipGetDevice", [=] {
    if (device == nullptr) return hipErrorInvalidValue;
    *device = current_device();
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipSetDevice(int device) {
  return api_call("hipSetDevice", [=] {
    if (!device_exists(device)) return hipErrorInvalidDevice;
    set_current_device(device);
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute,
                                                   int device) {
  return api_call("hipDeviceGetAttribute", [=] {
    if (value == nullptr) return hipErrorInvalidValue;
    if (!device_exists(device)) return hipErrorInvalidDevice;
    return read_attribute(attribute, device, *value);
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return api_call("hipDeviceGetName", [=] {
    if (!device_exists(device)) return hipErrorInvalidDevice;
    // Tests and benchmarks recognize the fake HIP runtime by this name.
    std::string const host_name = "rocarray host device " + std::to_string(device);
    return copy_name(is_fake_runtime ? "rocarray fake HIP runtime (no GPU)" : host_name.c_str(),
                     name, length);
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetPCIBusId(char* id, int length, int device) {
  return api_call("hipDeviceGetPCIBusId", [=] {
    if (!device_exists(device)) return hipErrorInvalidDevice;
    char text[32];
    int const needed =
        std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device)) + 1;
    if (length < needed) return hipErrorInvalidValue;  // a truncated id names another device
    return copy_name(text, id, length);
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return api_call("hipDeviceCanAccessPeer", [=] {
    if (can == nullptr) return hipErrorInvalidValue;
    if (!device_exists(device) || !device_exists(peer)) return hipErrorInvalidDevice;
    *can = is_connected(device, peer) ? 1 : 0;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api_call("hipDeviceEnablePeerAccess", [=] {
    int const device = current_device();
    if (flags != 0) return hipErrorInvalidValue;
    if (!device_exists(peer) || peer == device) return hipErrorInvalidDevice;
    stream_captures::instance().refuse_unsafe_call();
    if (!is_connected(device, peer)) return hipErrorPeerAccessUnsupported;
    return set_peer_access(device, peer, true) ? hipSuccess : hipErrorPeerAccessAlreadyEnabled;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api_call("hipDeviceDisablePeerAccess", [=] {
    int const device = current_device();
    if (!device_exists(peer) || peer == device) return hipErrorInvalidDevice;
    stream_captures::instance().refuse_unsafe_call();
    return set_peer_access(device, peer, false) ? hipSuccess : hipErrorPeerAccessNotEnabled;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute,
                                                      int device, int peer) {
  return api_call("hipDeviceGetP2PAttribute", [=] {
    if (value == nullptr) return hipErrorInvalidValue;
    if (!device_exists(device) || !device_exists(peer) || device == peer) {
      return hipErrorInvalidDevice;
    }
    switch (attribute) {
      case hipDevP2PAttrPerformanceRank:
        *value = performance_rank(is_connected(device, peer));
        break;
      case hipDevP2PAttrAccessSupported:
      case hipDevP2PAttrNativeAtomicSupported: *value = is_connected(device, peer) ? 1 : 0; break;
      case hipDevP2PAttrHipArrayAccessSupported: *value = 0; break;
      default: return hipErrorInvalidValue;
    }
    return hipSuccess;
  });
}

// Connected devices have a link between GPUs, others the bus.
ROCARRAY_HOST_API hipError_t hipExtGetLinkTypeAndHopCount(int device, int peer, std::uint32_t* type,
                                                          std::uint32_t* hops) {
  return api_call("hipExtGetLinkTypeAndHopCount", [=] {
    constexpr std::uint32_t pcie = 2;
    constexpr std::uint32_t xgmi = 4;
    if (type == nullptr || hops == nullptr || device == peer) return hipErrorInvalidValue;
    if (!device_exists(device) || !device_exists(peer)) return hipErrorInvalidDevice;
    *type = is_connected(device, peer) ? xgmi : pcie;
    *hops = is_connected(device, peer) ? 1 : 2;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipDeviceSynchronize() {
  return api_call("hipDeviceSynchronize", [] {
    stream_captures::instance().refuse_device(current_device());
    scheduler::instance().wait_for_device(current_device());
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipRuntimeGetVersion(int* version) {
  return api_call(
      "hipRuntimeGetVersion",
      [=] {
        if (version == nullptr) return hipErrorInvalidValue;
        *version = emulated_version();
        return hipSuccess;
      },
      false);
}

ROCARRAY_HOST_API hipError_t hipDriverGetVersion(int* version) {
  return api_call(
      "hipDriverGetVersion",
      [=] {
        if (version == nullptr) return hipErrorInvalidValue;
        *version = emulated_version();
        return hipSuccess;
      },
      false);
}

ROCARRAY_HOST_API_END
