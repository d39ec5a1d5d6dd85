// SPDX-License-Identifier: MIT
// HIP on the nvidia platform: HIP's own headers (5.2 and later), made to work with CUDA 12 and 13.
//
// HIP's wrappers over CUDA were written for older toolkits. They are plain C++ functions, so
// functions that a newer toolkit removed are restored here as overloads with the old signatures.
// Only one struct whose members were removed, and one template, need a macro; no macro outlives
// this file. All of HIP stays usable, not only the calls that rocarray makes. Include this before
// any header of HIP.
#pragma once

#ifndef __HIP_PLATFORM_NVIDIA__
#define __HIP_PLATFORM_NVIDIA__ 1
#endif

// All headers that HIP's headers include, so that the macros below do not apply to them.
// clang-format off
#include <cuda_runtime.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>
// clang-format on

#include <cassert>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

// Texture references, which CUDA 12 removed and which HIP before 5.5 wraps. Every call returns
// cudaErrorNotSupported.
#if CUDART_VERSION >= 12000

struct textureReference;

template <class T, int dimensions, cudaTextureReadMode mode>
struct roc_native_removed_texture;

template <class... Arguments>
cudaError_t cudaBindTexture(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaBindTexture2D(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaBindTextureToArray(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaUnbindTexture(Arguments const&...) {
  return cudaErrorNotSupported;
}

template <class... Arguments>
cudaError_t cudaGetTextureAlignmentOffset(Arguments const&...) {
  return cudaErrorNotSupported;
}

#endif  // CUDART_VERSION >= 12000

// Functions that CUDA 13 removed or gave another signature, with the signatures that HIP calls.
#if CUDART_VERSION >= 13000

/// cudaDeviceProp with the members that CUDA 13 turned into attributes.
struct roc_native_device_properties : cudaDeviceProp {
  int clockRate;
  int computeMode;
  int cooperativeMultiDeviceLaunch;  // always 0: CUDA 13 has no such launch
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

/// Returns the attribute's value, or 0 if CUDA returns an error. Clears that error.
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

// CUDA 13 removed multi-device cooperative launches and their device attribute.

inline constexpr cudaDeviceAttr cudaDevAttrCooperativeMultiDeviceLaunch = cudaDevAttrReserved96;
struct cudaLaunchParams;

inline cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams*, unsigned,
                                                          unsigned = 0) {
  return cudaErrorNotSupported;
}

// CUDA 13 advises and prefetches managed memory by location, not by device number.

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

// CUDA 13 added a parameter for edge data to graph calls. Null keeps the old meaning.

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

#endif  // CUDART_VERSION >= 13000

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#pragma push_macro("texture")
#if CUDART_VERSION >= 12000
#define texture roc_native_removed_texture
#endif
#pragma push_macro("cudaDeviceProp")
#if CUDART_VERSION >= 13000
#define cudaDeviceProp roc_native_device_properties
#endif
// HIP 5 redefines assert in device code, without parentheses around the condition.
#pragma push_macro("assert")

// clang-format off: the order matters
#include <hip/hip_version.h>
#include <roc/native/cuda_driver_begin.hpp>
// clang-format on
#ifdef __CUDACC__
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif
#include <roc/native/cuda_driver_end.hpp>

#pragma pop_macro("assert")
#pragma pop_macro("cudaDeviceProp")
#pragma pop_macro("texture")
#pragma GCC diagnostic pop

/// HIP 5.2's headers for NVIDIA lack this function; later ones define it for nvcc only. This is a
/// template, so that overload resolution prefers HIP's function if there is one.
template <class Unused = void>
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return hipCUDAErrorTohipError(cudaLaunchHostFunc(stream, function, data));
}

/// HIP's headers for NVIDIA lack this function: CUDA's runtime does not tell the type of a link.
template <class Unused = void>
hipError_t hipExtGetLinkTypeAndHopCount(int, int, std::uint32_t*, std::uint32_t*) {
  return hipErrorNotSupported;
}

/// HIP's function for NVIDIA takes a hipDeviceptr_t*, unlike the one for AMD. This is a template,
/// so that it is an overload of HIP's.
template <class Unused = void>
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* memory, std::size_t size,
                                   unsigned flags) {
  return hipCUDAErrorTohipError(cudaStreamAttachMemAsync(stream, memory, size, flags));
}

/// HIP's headers for NVIDIA define the following functions for nvcc only, those of values with
/// signed ones. These are templates, so that they are overloads of HIP's. As HIP's, they ignore the
/// mask, which CUDA does not have.
template <class Unused = void>
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return hipCUDAErrorTohipError(cudaStreamIsCapturing(stream, status));
}
template <class Unused = void>
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return hipCUDAErrorTohipError(cudaStreamBeginCapture(stream, mode));
}
template <class Unused = void>
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return hipCUDAErrorTohipError(cudaStreamEndCapture(stream, graph));
}
template <class Unused = void>
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return hipCUDAErrorTohipError(cudaStreamGetCaptureInfo(stream, status, id));
}
template <class Unused = void>
hipError_t hipGraphDestroy(hipGraph_t graph) {
  return hipCUDAErrorTohipError(cudaGraphDestroy(graph));
}
template <class Unused = void>
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable, hipGraph_t graph,
                                        unsigned long long flags) {
  return hipCUDAErrorTohipError(cudaGraphInstantiateWithFlags(executable, graph, flags));
}
template <class Unused = void>
hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph,
                              hipGraphNode_t* failed_node,
                              hipGraphExecUpdateResult* update_result) {
#if CUDART_VERSION >= 12000
  cudaGraphExecUpdateResultInfo information{};
  cudaError_t const result = cudaGraphExecUpdate(executable, graph, &information);
  *update_result = information.result;
  if (failed_node != nullptr) *failed_node = information.errorNode;
  return hipCUDAErrorTohipError(result);
#else
  return hipCUDAErrorTohipError(cudaGraphExecUpdate(executable, graph, failed_node, update_result));
#endif
}
template <class Unused = void>
hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return hipCUDAErrorTohipError(cudaGraphExecDestroy(executable));
}
template <class Unused = void>
hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return hipCUDAErrorTohipError(cudaGraphLaunch(executable, stream));
}
template <class Unused = void>
hipError_t hipStreamWaitValue64(hipStream_t stream, void* address, std::uint64_t value,
                                unsigned flags, std::uint64_t = UINT64_MAX) {
  return hipCUResultTohipError(roc::native_detail::driver_cuStreamWaitValue64(
      stream, reinterpret_cast<CUdeviceptr>(address), value, flags));
}
template <class Unused = void>
hipError_t hipStreamWriteValue64(hipStream_t stream, void* address, std::uint64_t value,
                                 unsigned flags) {
  return hipCUResultTohipError(roc::native_detail::driver_cuStreamWriteValue64(
      stream, reinterpret_cast<CUdeviceptr>(address), value, flags));
}
