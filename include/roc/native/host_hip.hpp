// SPDX-License-Identifier: MIT
// HIP on the host platform: HIP's types and the calls that the library uses, implemented on the
// CPU. Included by roc/native/hip.hpp. Names and numbers are HIP's, but no function has C linkage.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>
#include <roc/native/host_hip_error.hpp>

namespace roc::host_hip {

using hipDevice_t = int;
using hipStream_t = struct stream_handle*;
using hipEvent_t = struct event_handle*;
using hipMemPool_t = struct memory_pool_handle*;
using hipGraph_t = struct graph_handle*;
using hipGraphNode_t = struct graph_node_handle*;  // always null: nodes have no handles
using hipGraphExec_t = struct graph_exec_handle*;
using hipHostFn_t = void (*)(void* data);

/// The per-thread default stream of the calling thread.
inline hipStream_t const hipStreamPerThread = reinterpret_cast<hipStream_t>(std::size_t{2});

struct dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

enum hipDeviceAttribute_t : int {
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeClockRate,
  hipDeviceAttributeMemoryClockRate,
  hipDeviceAttributeMemoryBusWidth,
  hipDeviceAttributeL2CacheSize,
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeMaxThreadsPerBlock,
  hipDeviceAttributeComputeCapabilityMajor,
  hipDeviceAttributeComputeCapabilityMinor,
  hipDeviceAttributeIntegrated,
  hipDeviceAttributeCanMapHostMemory,
  hipDeviceAttributeManagedMemory,
  hipDeviceAttributeConcurrentManagedAccess,
  hipDeviceAttributePageableMemoryAccess,
  hipDeviceAttributeHostRegisterSupported,
  hipDeviceAttributePciBusId,
  hipDeviceAttributePciDeviceId,
  hipDeviceAttributePciDomainID,
  hipDeviceAttributeAsyncEngineCount,
  hipDeviceAttributeMemoryPoolsSupported,
  hipDeviceAttributeMaxSharedMemoryPerBlock,
  hipDeviceAttributeUnifiedAddressing,
  hipDeviceAttributeCooperativeLaunch,
  hipDeviceAttributeMaxBlockDimX,
  hipDeviceAttributeMaxBlockDimY,
  hipDeviceAttributeMaxBlockDimZ,
  hipDeviceAttributeMaxGridDimX,
  hipDeviceAttributeMaxGridDimY,
  hipDeviceAttributeMaxGridDimZ,
  hipDeviceAttributeImageSupport,
};

enum hipMemoryAdvise : int {
  hipMemAdviseSetReadMostly = 1,
  hipMemAdviseUnsetReadMostly = 2,
  hipMemAdviseSetPreferredLocation = 3,
  hipMemAdviseUnsetPreferredLocation = 4,
  hipMemAdviseSetAccessedBy = 5,
  hipMemAdviseUnsetAccessedBy = 6,
  hipMemAdviseSetCoarseGrain = 100,
  hipMemAdviseUnsetCoarseGrain = 101,
};

enum hipMemcpyKind : int {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
};

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

enum hipPointer_attribute : int {
  HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
  HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
  HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
  HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
};
using hipDeviceptr_t = void*;

struct hipIpcMemHandle_t {
  char reserved[64];
};
struct hipIpcEventHandle_t {
  char reserved[64];
};
inline constexpr unsigned hipIpcMemLazyEnablePeerAccess = 0x1;

enum hipStreamCaptureStatus : int {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
  hipStreamCaptureStatusInvalidated = 2,
};

enum hipStreamCaptureMode : int {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2,
};

enum hipGraphExecUpdateResult : int {
  hipGraphExecUpdateSuccess = 0,
  hipGraphExecUpdateError = 1,
  hipGraphExecUpdateErrorTopologyChanged = 2,
  hipGraphExecUpdateErrorNodeTypeChanged = 3,
  hipGraphExecUpdateErrorFunctionChanged = 4,
  hipGraphExecUpdateErrorParametersChanged = 5,
  hipGraphExecUpdateErrorNotSupported = 6,
  hipGraphExecUpdateErrorUnsupportedFunctionChange = 7,
};

enum hipMemPoolAttr : int {
  hipMemPoolAttrReleaseThreshold = 4,
};

enum hipMemLocationType : int {
  hipMemLocationTypeInvalid = 0,
  hipMemLocationTypeDevice = 1,
};

struct hipMemLocation {
  hipMemLocationType type;
  int id;
};

enum hipMemAccessFlags : int {
  hipMemAccessFlagsProtNone = 0,
  hipMemAccessFlagsProtRead = 1,
  hipMemAccessFlagsProtReadWrite = 3,
};

struct hipMemAccessDesc {
  hipMemLocation location;
  hipMemAccessFlags flags;
};

enum hipDeviceP2PAttr : int {
  hipDevP2PAttrPerformanceRank = 0,
  hipDevP2PAttrAccessSupported = 1,
  hipDevP2PAttrNativeAtomicSupported = 2,
  hipDevP2PAttrHipArrayAccessSupported = 3,
};

struct hipPos {
  std::size_t x, y, z;
};
struct hipExtent {
  std::size_t width, height, depth;
};
struct hipPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
using hipArray_t = struct array_handle*;  // always null: there are no arrays
struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
};

inline hipPos make_hipPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }
inline hipExtent make_hipExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline hipPitchedPtr make_hipPitchedPtr(void* memory, std::size_t pitch, std::size_t width,
                                        std::size_t height) {
  return {memory, pitch, width, height};
}

using hipTextureObject_t = struct texture_handle*;
struct hipResourceViewDesc;
enum hipChannelFormatKind : int {
  hipChannelFormatKindSigned = 0,
  hipChannelFormatKindUnsigned = 1,
  hipChannelFormatKindFloat = 2,
};
struct hipChannelFormatDesc {
  int x, y, z, w;
  hipChannelFormatKind f;
};
enum hipResourceType : int {
  hipResourceTypePitch2D = 3,
};
struct hipResourceDesc {
  struct pitched_memory {
    void* devPtr;
    hipChannelFormatDesc desc;
    std::size_t width, height, pitchInBytes;
  };
  hipResourceType resType;
  union {
    pitched_memory pitch2D;
  } res;
};
enum hipTextureAddressMode : int {
  hipAddressModeWrap = 0,
  hipAddressModeClamp = 1,
  hipAddressModeMirror = 2,
  hipAddressModeBorder = 3,
};
enum hipTextureFilterMode : int {
  hipFilterModePoint = 0,
  hipFilterModeLinear = 1,
};
enum hipTextureReadMode : int {
  hipReadModeElementType = 0,
  hipReadModeNormalizedFloat = 1,
};
struct hipTextureDesc {
  hipTextureAddressMode addressMode[3];
  hipTextureFilterMode filterMode;
  hipTextureReadMode readMode;
  float borderColor[4];
  int normalizedCoords;
};

inline constexpr unsigned hipHostMallocDefault = 0x0;
inline constexpr unsigned hipHostMallocPortable = 0x1;
inline constexpr unsigned hipHostMallocMapped = 0x2;
inline constexpr unsigned hipHostMallocWriteCombined = 0x4;
inline constexpr unsigned hipHostMallocNumaUser = 0x20000000;
inline constexpr unsigned hipHostMallocCoherent = 0x40000000;
inline constexpr unsigned hipHostMallocNonCoherent = 0x80000000;
inline constexpr unsigned hipHostRegisterDefault = 0x0;
inline constexpr unsigned hipHostRegisterPortable = 0x1;
inline constexpr unsigned hipHostRegisterMapped = 0x2;
inline constexpr unsigned hipHostRegisterIoMemory = 0x4;
inline constexpr unsigned hipHostRegisterReadOnly = 0x8;
inline constexpr unsigned hipMemAttachGlobal = 0x1;
inline constexpr unsigned hipMemAttachHost = 0x2;
inline constexpr unsigned hipMemAttachSingle = 0x4;
inline constexpr int hipCpuDeviceId = -1;
inline constexpr unsigned hipStreamDefault = 0x0;
inline constexpr unsigned hipStreamNonBlocking = 0x1;
inline constexpr unsigned hipStreamWaitValueGte = 0x0;
inline constexpr unsigned hipStreamWaitValueEq = 0x1;
inline constexpr unsigned hipStreamWaitValueAnd = 0x2;
inline constexpr unsigned hipStreamWaitValueNor = 0x3;
inline constexpr unsigned hipEventDefault = 0x0;
inline constexpr unsigned hipEventBlockingSync = 0x1;
inline constexpr unsigned hipEventDisableTiming = 0x2;
inline constexpr unsigned hipEventInterprocess = 0x4;
inline constexpr unsigned hipEventDisableSystemFence = 0x20000000;
inline constexpr unsigned hipEventReleaseToDevice = 0x40000000;
inline constexpr unsigned hipEventReleaseToSystem = 0x80000000;

ROCARRAY_API hipError_t hipGetDeviceCount(int* count);
ROCARRAY_API hipError_t hipGetDevice(int* device);
ROCARRAY_API hipError_t hipSetDevice(int device);
ROCARRAY_API hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute,
                                              int device);
ROCARRAY_API hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device);
ROCARRAY_API hipError_t hipDeviceGetPCIBusId(char* id, int length, int device);
ROCARRAY_API hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer);
ROCARRAY_API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
ROCARRAY_API hipError_t hipDeviceDisablePeerAccess(int peer);
ROCARRAY_API hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int device,
                                                 int peer);
ROCARRAY_API hipError_t hipExtGetLinkTypeAndHopCount(int device, int peer, std::uint32_t* type,
                                                     std::uint32_t* hops);
ROCARRAY_API hipError_t hipDeviceSynchronize();
ROCARRAY_API hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest);
ROCARRAY_API hipError_t hipRuntimeGetVersion(int* version);
ROCARRAY_API hipError_t hipDriverGetVersion(int* version);
ROCARRAY_API hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total);

ROCARRAY_API hipError_t hipGetLastError();
ROCARRAY_API hipError_t hipPeekAtLastError();
ROCARRAY_API char const* hipGetErrorName(hipError_t error);
ROCARRAY_API char const* hipGetErrorString(hipError_t error);

ROCARRAY_API hipError_t hipMalloc(void** data, std::size_t bytes);
ROCARRAY_API hipError_t hipFree(void* data);
ROCARRAY_API hipError_t hipHostMalloc(void** data, std::size_t bytes, unsigned flags);
ROCARRAY_API hipError_t hipHostFree(void* data);
ROCARRAY_API hipError_t hipHostGetFlags(unsigned* flags, void* data);
ROCARRAY_API hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags);
ROCARRAY_API hipError_t hipHostRegister(void* data, std::size_t bytes, unsigned flags);
ROCARRAY_API hipError_t hipHostUnregister(void* data);
ROCARRAY_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                void const* data);
ROCARRAY_API hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute,
                                               hipDeviceptr_t data);
ROCARRAY_API hipError_t hipMallocManaged(void** data, std::size_t bytes, unsigned flags);
ROCARRAY_API hipError_t hipMemAdvise(void const* data, std::size_t bytes, hipMemoryAdvise advice,
                                     int device);
ROCARRAY_API hipError_t hipMemPrefetchAsync(void const* data, std::size_t bytes, int device,
                                            hipStream_t stream = nullptr);
ROCARRAY_API hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* data, std::size_t bytes,
                                                unsigned flags);
template <class T>
hipError_t hipMalloc(T** data, std::size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(data), bytes);
}
template <class T>
hipError_t hipHostMalloc(T** data, std::size_t bytes, unsigned flags = hipHostMallocDefault) {
  return hipHostMalloc(reinterpret_cast<void**>(data), bytes, flags);
}

ROCARRAY_API hipError_t hipMallocAsync(void** data, std::size_t bytes, hipStream_t stream);
ROCARRAY_API hipError_t hipMallocFromPoolAsync(void** data, std::size_t bytes, hipMemPool_t pool,
                                               hipStream_t stream);
ROCARRAY_API hipError_t hipFreeAsync(void* data, hipStream_t stream);
ROCARRAY_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device);
ROCARRAY_API hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute,
                                               void* value);
ROCARRAY_API hipError_t hipMemPoolSetAccess(hipMemPool_t pool, hipMemAccessDesc const* accesses,
                                            std::size_t count);
ROCARRAY_API hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t keep);

ROCARRAY_API hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* data);
ROCARRAY_API hipError_t hipIpcOpenMemHandle(void** data, hipIpcMemHandle_t handle, unsigned flags);
ROCARRAY_API hipError_t hipIpcCloseMemHandle(void* data);
ROCARRAY_API hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event);
ROCARRAY_API hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle);

ROCARRAY_API hipError_t hipMemcpy(void* to, void const* from, std::size_t bytes,
                                  hipMemcpyKind kind);
ROCARRAY_API hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t bytes,
                                       hipMemcpyKind kind, hipStream_t stream = nullptr);
ROCARRAY_API hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from,
                                         std::size_t from_pitch, std::size_t width,
                                         std::size_t height, hipMemcpyKind kind,
                                         hipStream_t stream = nullptr);
ROCARRAY_API hipError_t hipMemcpy3DAsync(hipMemcpy3DParms const* parameters,
                                         hipStream_t stream = nullptr);
ROCARRAY_API hipError_t hipMemsetAsync(void* data, int value, std::size_t bytes,
                                       hipStream_t stream = nullptr);

ROCARRAY_API hipError_t hipCreateTextureObject(hipTextureObject_t* texture,
                                               hipResourceDesc const* resource,
                                               hipTextureDesc const* description,
                                               hipResourceViewDesc const* view);
ROCARRAY_API hipError_t hipDestroyTextureObject(hipTextureObject_t texture);

ROCARRAY_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
ROCARRAY_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags,
                                                    int priority);
ROCARRAY_API hipError_t hipStreamDestroy(hipStream_t stream);
ROCARRAY_API hipError_t hipStreamSynchronize(hipStream_t stream);
ROCARRAY_API hipError_t hipStreamQuery(hipStream_t stream);
ROCARRAY_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                           unsigned flags = 0);
ROCARRAY_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags);
ROCARRAY_API hipError_t hipStreamGetPriority(hipStream_t stream, int* priority);
ROCARRAY_API hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
ROCARRAY_API hipError_t hipStreamWaitValue64(hipStream_t stream, void* address, std::uint64_t value,
                                             unsigned flags, std::uint64_t mask = UINT64_MAX);
ROCARRAY_API hipError_t hipStreamWriteValue64(hipStream_t stream, void* address,
                                              std::uint64_t value, unsigned flags);
ROCARRAY_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data);

ROCARRAY_API hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
ROCARRAY_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
ROCARRAY_API hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                                unsigned long long* id);
ROCARRAY_API hipError_t hipGraphDestroy(hipGraph_t graph);
ROCARRAY_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable, hipGraph_t graph,
                                                     unsigned long long flags);
ROCARRAY_API hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph,
                                           hipGraphNode_t* failed_node,
                                           hipGraphExecUpdateResult* update_result);
ROCARRAY_API hipError_t hipGraphExecDestroy(hipGraphExec_t executable);
ROCARRAY_API hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream);

ROCARRAY_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
ROCARRAY_API hipError_t hipEventDestroy(hipEvent_t event);
ROCARRAY_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
ROCARRAY_API hipError_t hipEventSynchronize(hipEvent_t event);
ROCARRAY_API hipError_t hipEventQuery(hipEvent_t event);
ROCARRAY_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end);

// Functions that HIP does not have.

/// Enqueues a kernel: several threads call run(closure, begin, end) for ranges that together cover
/// [0, items), and may access device memory. `destroy(closure)` is called once, after the kernel or
/// if this fails.
ROCARRAY_API hipError_t launch_host_kernel(hipStream_t stream, std::size_t items,
                                           void (*run)(void* closure, std::size_t begin,
                                                       std::size_t end),
                                           void* closure, void (*destroy)(void* closure));

/// Makes the n-th use of a HIP call from now on (counted from 1) fail once with `error`. Several
/// failures may be planned. The environment variable ROCARRAY_HOST_INJECT_FAILURE does the same.
/// @param call name of the call, such as "hipMalloc"
/// @returns false if there is no such call, or it cannot fail (hipGetErrorName, hipGetErrorString)
ROCARRAY_API bool fail_at(char const* call, unsigned nth, hipError_t error);

/// The bytes that fill newly allocated and freed device memory if ROCARRAY_HOST_POISON is set.
inline constexpr unsigned char fresh_poison = 0xD5;
inline constexpr unsigned char freed_poison = 0xDD;

/// Returns a text table of the environment variables of this implementation, with defaults and
/// meanings.
ROCARRAY_API char const* settings_table();

}  // namespace roc::host_hip

namespace roc::host_kernels {

struct host_kernel;

/// Enqueues a kernel that a C++ compiler has compiled, for every thread of a grid. The arguments of
/// its threads are `closure`; `destroy(closure)` is called once, after the kernel or if this fails.
ROCARRAY_API host_hip::hipError_t launch_host_grid(host_hip::hipStream_t stream,
                                                   host_kernel const& kernel, host_hip::dim3 grid,
                                                   host_hip::dim3 block, std::size_t shared_bytes,
                                                   void* closure, void (*destroy)(void* closure));

/// Sets `bytes` to the size of the `__shared__` variables of a kernel; 0 if its shared object is
/// stripped.
ROCARRAY_API host_hip::hipError_t static_shared_bytes(void const* kernel, std::size_t* bytes);

}  // namespace roc::host_kernels
