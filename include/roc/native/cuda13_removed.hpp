// SPDX-License-Identifier: MIT
// What CUDA 13 removed or gave another signature, as HIP's wrappers call it.
// Included by cuda13.hpp only.
#pragma once

#if CUDART_VERSION >= 13000

/// cudaDeviceProp with the members that became attributes.
struct roc_native_device_properties : cudaDeviceProp {
  int clockRate;
  int computeMode;
  int cooperativeMultiDeviceLaunch;  // the feature is gone: always 0
  int deviceOverlap;
  int kernelExecTimeoutEnabled;
  int maxTexture1DLinear;
  int memoryClockRate;
  int singleToDoublePrecisionPerfRatio;
};

namespace roc::native_detail {

inline cudaMemLocation location_of(int device) {
  cudaMemLocation location;
  std::memset(&location, 0, sizeof location);
  bool const host = device == cudaCpuDeviceId;
  location.type = host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = host ? 0 : device;
  return location;
}

/// The attribute's value, or 0 where the device does not tell it.
inline int attribute_or_zero(cudaDeviceAttr attribute, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess) return value;
  (void)cudaGetLastError();
  return 0;
}

}  // namespace roc::native_detail

inline cudaError_t cudaGetDeviceProperties(roc_native_device_properties* properties, int device) {
  using roc::native_detail::attribute_or_zero;
  if (properties == nullptr) return cudaErrorInvalidValue;
  cudaError_t const error =
      cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(properties), device);
  if (error != cudaSuccess) return error;
  properties->clockRate = attribute_or_zero(cudaDevAttrClockRate, device);
  properties->computeMode = attribute_or_zero(cudaDevAttrComputeMode, device);
  properties->cooperativeMultiDeviceLaunch = 0;
  properties->deviceOverlap = attribute_or_zero(cudaDevAttrGpuOverlap, device);
  properties->kernelExecTimeoutEnabled = attribute_or_zero(cudaDevAttrKernelExecTimeout, device);
  properties->maxTexture1DLinear = attribute_or_zero(cudaDevAttrMaxTexture1DLinearWidth, device);
  properties->memoryClockRate = attribute_or_zero(cudaDevAttrMemoryClockRate, device);
  properties->singleToDoublePrecisionPerfRatio =
      attribute_or_zero(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  return cudaSuccess;
}

// Multi-device cooperative launches went, with the attribute that told of them.

inline constexpr cudaDeviceAttr cudaDevAttrCooperativeMultiDeviceLaunch = cudaDevAttrReserved96;
struct cudaLaunchParams;

inline cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams*, unsigned,
                                                          unsigned = 0) {
  return cudaErrorNotSupported;
}

// Managed memory is advised and prefetched by location, no longer by device number.

inline cudaError_t cudaMemAdvise(void const* data, std::size_t size, cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(data, size, advice, roc::native_detail::location_of(device));
}

inline cudaError_t cudaMemPrefetchAsync(void const* data, std::size_t size, int device,
                                        cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(data, size, roc::native_detail::location_of(device), 0U, stream);
}

inline CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, nullptr, flags, device);
}

// Graph calls take edge data in the middle of their arguments; none is what they meant before.

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, cudaGraphNode_t const* from,
                                            cudaGraphNode_t const* to, std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, cudaGraphNode_t const* from,
                                               cudaGraphNode_t const* to, std::size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                     std::size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}

inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                                std::size_t* count) {
  return cudaGraphNodeGetDependencies(node, dependencies, nullptr, count);
}

inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                                  std::size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, dependents, nullptr, count);
}

inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                       cudaGraphNode_t* dependencies,
                                                       std::size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags);
}

inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               cudaGraphNode_t const** dependencies,
                                               std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}

inline CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status,
                                          cuuint64_t* id, CUgraph* graph,
                                          CUgraphNode const** dependencies, std::size_t* count) {
  return cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}

#endif
