// SPDX-License-Identifier: MIT
// HIP's types, constants and error codes as aliases of CUDA's: those that the calls in
// cuda_alias.hpp use. Included by cuda_alias.hpp only.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace roc::cuda_alias {

/// HIP's error codes.
enum hipError_t : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorDeinitialized = 4,
  hipErrorProfilerDisabled = 5,
  hipErrorProfilerNotInitialized = 6,
  hipErrorProfilerAlreadyStarted = 7,
  hipErrorProfilerAlreadyStopped = 8,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidSymbol = 13,
  hipErrorInvalidDevicePointer = 17,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInsufficientDriver = 35,
  hipErrorMissingConfiguration = 52,
  hipErrorPriorLaunchFailure = 53,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorContextAlreadyCurrent = 202,
  hipErrorMapFailed = 205,
  hipErrorUnmapFailed = 206,
  hipErrorArrayIsMapped = 207,
  hipErrorAlreadyMapped = 208,
  hipErrorNoBinaryForGpu = 209,
  hipErrorAlreadyAcquired = 210,
  hipErrorNotMapped = 211,
  hipErrorNotMappedAsArray = 212,
  hipErrorNotMappedAsPointer = 213,
  hipErrorECCNotCorrectable = 214,
  hipErrorUnsupportedLimit = 215,
  hipErrorContextAlreadyInUse = 216,
  hipErrorPeerAccessUnsupported = 217,
  hipErrorInvalidKernelFile = 218,
  hipErrorInvalidGraphicsContext = 219,
  hipErrorInvalidSource = 300,
  hipErrorFileNotFound = 301,
  hipErrorSharedObjectSymbolNotFound = 302,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorOperatingSystem = 304,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorPeerAccessAlreadyEnabled = 704,
  hipErrorPeerAccessNotEnabled = 705,
  hipErrorSetOnActiveProcess = 708,
  hipErrorContextIsDestroyed = 709,
  hipErrorAssert = 710,
  hipErrorHostMemoryAlreadyRegistered = 712,
  hipErrorHostMemoryNotRegistered = 713,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorStreamCaptureMerge = 902,
  hipErrorStreamCaptureUnmatched = 903,
  hipErrorStreamCaptureUnjoined = 904,
  hipErrorStreamCaptureIsolation = 905,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907,
  hipErrorStreamCaptureWrongThread = 908,
  hipErrorGraphExecUpdateFailure = 910,
  hipErrorUnknown = 999,
  hipErrorRuntimeMemory = 1052,
  hipErrorRuntimeOther = 1053,
};

/// Returns the HIP code for a CUDA code. Codes that both define have the same number and meaning;
/// any other becomes hipErrorUnknown.
constexpr hipError_t from_cuda(cudaError_t error) {
  struct range {
    int first;
    int last;
  };
  constexpr range shared[] = {{0, 9},     {12, 13},   {17, 17},   {21, 21},   {35, 35},
                              {52, 53},   {98, 98},   {100, 101}, {200, 201}, {205, 219},
                              {300, 304}, {400, 401}, {500, 500}, {600, 600}, {700, 702},
                              {704, 705}, {708, 710}, {712, 713}, {719, 720}, {801, 801},
                              {900, 908}, {910, 910}};
  int const code = static_cast<int>(error);
  for (range const& codes : shared) {
    if (codes.first <= code && code <= codes.last) return static_cast<hipError_t>(code);
  }
  return hipErrorUnknown;
}

/// Returns the CUDA code for a HIP code, or cudaErrorUnknown if CUDA does not define it.
constexpr cudaError_t to_cuda(hipError_t error) {
  cudaError_t const code = static_cast<cudaError_t>(error);
  return from_cuda(code) == error ? code : cudaErrorUnknown;
}

using hipDevice_t = int;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipHostFn_t = cudaHostFn_t;
using hipStreamCaptureStatus = cudaStreamCaptureStatus;
inline constexpr hipStreamCaptureStatus hipStreamCaptureStatusNone = cudaStreamCaptureStatusNone;
inline constexpr hipStreamCaptureStatus hipStreamCaptureStatusActive =
    cudaStreamCaptureStatusActive;
inline constexpr hipStreamCaptureStatus hipStreamCaptureStatusInvalidated =
    cudaStreamCaptureStatusInvalidated;
using hipStreamCaptureMode = cudaStreamCaptureMode;
inline constexpr hipStreamCaptureMode hipStreamCaptureModeGlobal = cudaStreamCaptureModeGlobal;
inline constexpr hipStreamCaptureMode hipStreamCaptureModeThreadLocal =
    cudaStreamCaptureModeThreadLocal;
inline constexpr hipStreamCaptureMode hipStreamCaptureModeRelaxed = cudaStreamCaptureModeRelaxed;
using hipGraph_t = cudaGraph_t;
using hipGraphNode_t = cudaGraphNode_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipGraphExecUpdateResult = cudaGraphExecUpdateResult;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateSuccess = cudaGraphExecUpdateSuccess;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateError = cudaGraphExecUpdateError;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateErrorTopologyChanged =
    cudaGraphExecUpdateErrorTopologyChanged;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateErrorNodeTypeChanged =
    cudaGraphExecUpdateErrorNodeTypeChanged;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateErrorFunctionChanged =
    cudaGraphExecUpdateErrorFunctionChanged;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateErrorParametersChanged =
    cudaGraphExecUpdateErrorParametersChanged;
inline constexpr hipGraphExecUpdateResult hipGraphExecUpdateErrorNotSupported =
    cudaGraphExecUpdateErrorNotSupported;
using hipMemPool_t = cudaMemPool_t;
using hipMemPoolAttr = cudaMemPoolAttr;
inline constexpr hipMemPoolAttr hipMemPoolAttrReleaseThreshold = cudaMemPoolAttrReleaseThreshold;
using hipMemLocationType = cudaMemLocationType;
inline constexpr hipMemLocationType hipMemLocationTypeDevice = cudaMemLocationTypeDevice;
using hipMemLocation = cudaMemLocation;
using hipMemAccessFlags = cudaMemAccessFlags;
inline constexpr hipMemAccessFlags hipMemAccessFlagsProtNone = cudaMemAccessFlagsProtNone;
inline constexpr hipMemAccessFlags hipMemAccessFlagsProtRead = cudaMemAccessFlagsProtRead;
inline constexpr hipMemAccessFlags hipMemAccessFlagsProtReadWrite = cudaMemAccessFlagsProtReadWrite;
using hipMemAccessDesc = cudaMemAccessDesc;

using hipDeviceP2PAttr = cudaDeviceP2PAttr;
inline constexpr hipDeviceP2PAttr hipDevP2PAttrPerformanceRank = cudaDevP2PAttrPerformanceRank;
inline constexpr hipDeviceP2PAttr hipDevP2PAttrAccessSupported = cudaDevP2PAttrAccessSupported;
inline constexpr hipDeviceP2PAttr hipDevP2PAttrNativeAtomicSupported =
    cudaDevP2PAttrNativeAtomicSupported;

/// HIP's names with CUDA's numbers, which hipDeviceGetAttribute passes to CUDA.
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
  hipDeviceAttributeMaxBlockDimX = cudaDevAttrMaxBlockDimX,
  hipDeviceAttributeMaxBlockDimY = cudaDevAttrMaxBlockDimY,
  hipDeviceAttributeMaxBlockDimZ = cudaDevAttrMaxBlockDimZ,
  hipDeviceAttributeMaxGridDimX = cudaDevAttrMaxGridDimX,
  hipDeviceAttributeMaxGridDimY = cudaDevAttrMaxGridDimY,
  hipDeviceAttributeMaxGridDimZ = cudaDevAttrMaxGridDimZ,
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

using hipTextureObject_t = cudaTextureObject_t;
using hipResourceDesc = cudaResourceDesc;
using hipTextureDesc = cudaTextureDesc;
using hipResourceViewDesc = cudaResourceViewDesc;
inline constexpr auto hipResourceTypePitch2D = cudaResourceTypePitch2D;
inline constexpr auto hipChannelFormatKindSigned = cudaChannelFormatKindSigned;
inline constexpr auto hipChannelFormatKindUnsigned = cudaChannelFormatKindUnsigned;
inline constexpr auto hipChannelFormatKindFloat = cudaChannelFormatKindFloat;
inline constexpr auto hipAddressModeWrap = cudaAddressModeWrap;
inline constexpr auto hipAddressModeClamp = cudaAddressModeClamp;
inline constexpr auto hipAddressModeMirror = cudaAddressModeMirror;
inline constexpr auto hipAddressModeBorder = cudaAddressModeBorder;
inline constexpr auto hipFilterModePoint = cudaFilterModePoint;
inline constexpr auto hipFilterModeLinear = cudaFilterModeLinear;
inline constexpr auto hipReadModeElementType = cudaReadModeElementType;
inline constexpr auto hipReadModeNormalizedFloat = cudaReadModeNormalizedFloat;

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
  HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
};
using hipDeviceptr_t = unsigned long long;

using hipIpcMemHandle_t = cudaIpcMemHandle_t;
using hipIpcEventHandle_t = cudaIpcEventHandle_t;
inline constexpr unsigned hipIpcMemLazyEnablePeerAccess = cudaIpcMemLazyEnablePeerAccess;

inline constexpr unsigned hipHostMallocDefault = cudaHostAllocDefault;
inline constexpr unsigned hipHostMallocPortable = cudaHostAllocPortable;
inline constexpr unsigned hipHostMallocMapped = cudaHostAllocMapped;
inline constexpr unsigned hipHostMallocWriteCombined = cudaHostAllocWriteCombined;
// CUDA has no choice of coherence: HIP defines both flags as 0 for NVIDIA.
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

inline constexpr unsigned hipStreamWaitValueGte = 0x0;
inline constexpr unsigned hipStreamWaitValueEq = 0x1;
inline constexpr unsigned hipStreamWaitValueAnd = 0x2;
inline constexpr unsigned hipStreamWaitValueNor = 0x3;

inline constexpr unsigned hipEventDefault = cudaEventDefault;
inline constexpr unsigned hipEventBlockingSync = cudaEventBlockingSync;
inline constexpr unsigned hipEventDisableTiming = cudaEventDisableTiming;
inline constexpr unsigned hipEventInterprocess = cudaEventInterprocess;

}  // namespace roc::cuda_alias
