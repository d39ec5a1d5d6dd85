// SPDX-License-Identifier: MIT
// HIP's types and constants over CUDA's: those of the calls in cuda_alias.hpp.
// Included by cuda_alias.hpp only.
#pragma once

#include <cstddef>

namespace roc::cuda_alias {

using hipDevice_t = int;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipHostFn_t = cudaHostFn_t;
using hipMemPool_t = cudaMemPool_t;
using hipMemPoolAttr = cudaMemPoolAttr;
inline constexpr hipMemPoolAttr hipMemPoolAttrReleaseThreshold = cudaMemPoolAttrReleaseThreshold;

/// HIP's names with CUDA's numbers: hipDeviceGetAttribute passes them on.
enum hipDeviceAttribute_t : int {
  hipDeviceAttributeMultiprocessorCount = cudaDevAttrMultiProcessorCount,
  hipDeviceAttributeClockRate = cudaDevAttrClockRate,
  hipDeviceAttributeMemoryClockRate = cudaDevAttrMemoryClockRate,
  hipDeviceAttributeMemoryBusWidth = cudaDevAttrGlobalMemoryBusWidth,
  hipDeviceAttributeL2CacheSize = cudaDevAttrL2CacheSize,
  hipDeviceAttributeWarpSize = cudaDevAttrWarpSize,
  hipDeviceAttributeMaxThreadsPerBlock = cudaDevAttrMaxThreadsPerBlock,
  hipDeviceAttributeComputeCapabilityMajor = cudaDevAttrComputeCapabilityMajor,
  hipDeviceAttributeComputeCapabilityMinor = cudaDevAttrComputeCapabilityMinor,
  hipDeviceAttributeIntegrated = cudaDevAttrIntegrated,
  hipDeviceAttributeCanMapHostMemory = cudaDevAttrCanMapHostMemory,
  hipDeviceAttributeManagedMemory = cudaDevAttrManagedMemory,
  hipDeviceAttributeConcurrentManagedAccess = cudaDevAttrConcurrentManagedAccess,
  hipDeviceAttributePageableMemoryAccess = cudaDevAttrPageableMemoryAccess,
  hipDeviceAttributeHostRegisterSupported = cudaDevAttrHostRegisterSupported,
  hipDeviceAttributePciBusId = cudaDevAttrPciBusId,
  hipDeviceAttributePciDeviceId = cudaDevAttrPciDeviceId,
  hipDeviceAttributePciDomainID = cudaDevAttrPciDomainId,
  hipDeviceAttributeAsyncEngineCount = cudaDevAttrAsyncEngineCount,
  hipDeviceAttributeMaxSharedMemoryPerBlock = cudaDevAttrMaxSharedMemoryPerBlock,
  hipDeviceAttributeUnifiedAddressing = cudaDevAttrUnifiedAddressing,
  hipDeviceAttributeCooperativeLaunch = cudaDevAttrCooperativeLaunch,
  hipDeviceAttributeMemoryPoolsSupported = cudaDevAttrMemoryPoolsSupported,
};

using hipMemoryAdvise = cudaMemoryAdvise;
inline constexpr hipMemoryAdvise hipMemAdviseSetReadMostly = cudaMemAdviseSetReadMostly;
inline constexpr hipMemoryAdvise hipMemAdviseUnsetReadMostly = cudaMemAdviseUnsetReadMostly;
inline constexpr hipMemoryAdvise hipMemAdviseSetPreferredLocation =
    cudaMemAdviseSetPreferredLocation;
inline constexpr hipMemoryAdvise hipMemAdviseUnsetPreferredLocation =
    cudaMemAdviseUnsetPreferredLocation;
inline constexpr hipMemoryAdvise hipMemAdviseSetAccessedBy = cudaMemAdviseSetAccessedBy;
inline constexpr hipMemoryAdvise hipMemAdviseUnsetAccessedBy = cudaMemAdviseUnsetAccessedBy;

using hipMemcpyKind = cudaMemcpyKind;
inline constexpr hipMemcpyKind hipMemcpyHostToHost = cudaMemcpyHostToHost;
inline constexpr hipMemcpyKind hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
inline constexpr hipMemcpyKind hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
inline constexpr hipMemcpyKind hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
inline constexpr hipMemcpyKind hipMemcpyDefault = cudaMemcpyDefault;

using hipPos = cudaPos;
using hipExtent = cudaExtent;
using hipPitchedPtr = cudaPitchedPtr;
using hipMemcpy3DParms = cudaMemcpy3DParms;

inline hipPos make_hipPos(std::size_t x, std::size_t y, std::size_t z) {
  return make_cudaPos(x, y, z);
}
inline hipExtent make_hipExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return make_cudaExtent(width, height, depth);
}
inline hipPitchedPtr make_hipPitchedPtr(void* memory, std::size_t pitch, std::size_t width,
                                        std::size_t height) {
  return make_cudaPitchedPtr(memory, pitch, width, height);
}

enum hipMemoryType : int {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
};

struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

inline constexpr unsigned hipHostMallocDefault = cudaHostAllocDefault;
inline constexpr unsigned hipHostMallocPortable = cudaHostAllocPortable;
inline constexpr unsigned hipHostMallocMapped = cudaHostAllocMapped;
inline constexpr unsigned hipHostMallocWriteCombined = cudaHostAllocWriteCombined;
// Coherence is not chosen on CUDA: HIP gives both the value 0 there.
inline constexpr unsigned hipHostMallocCoherent = 0;
inline constexpr unsigned hipHostMallocNonCoherent = 0;

inline constexpr unsigned hipHostRegisterDefault = cudaHostRegisterDefault;
inline constexpr unsigned hipHostRegisterPortable = cudaHostRegisterPortable;
inline constexpr unsigned hipHostRegisterMapped = cudaHostRegisterMapped;
inline constexpr unsigned hipHostRegisterIoMemory = cudaHostRegisterIoMemory;
inline constexpr unsigned hipHostRegisterReadOnly = cudaHostRegisterReadOnly;

inline constexpr unsigned hipMemAttachGlobal = cudaMemAttachGlobal;
inline constexpr unsigned hipMemAttachHost = cudaMemAttachHost;
inline constexpr unsigned hipMemAttachSingle = cudaMemAttachSingle;
inline constexpr int hipCpuDeviceId = cudaCpuDeviceId;

inline constexpr unsigned hipStreamDefault = cudaStreamDefault;
inline constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
inline hipStream_t const hipStreamPerThread = cudaStreamPerThread;

inline constexpr unsigned hipEventDefault = cudaEventDefault;
inline constexpr unsigned hipEventBlockingSync = cudaEventBlockingSync;
inline constexpr unsigned hipEventDisableTiming = cudaEventDisableTiming;
inline constexpr unsigned hipEventInterprocess = cudaEventInterprocess;

}  // namespace roc::cuda_alias
