// SPDX-License-Identifier: MIT
// HIP on the nvidia platform without HIP's headers: the calls listed in src/platform/calls.hpp,
// each implemented by CUDA's call as HIP's own headers do.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <roc/native/cuda_alias_types.hpp>

namespace roc::cuda_alias {

/// Returns the driver's function of that name, or null if there is no driver or no such function.
/// The runtime looks it up, so that programs need not link libcuda.
template <class Function>
Function find_driver_call(char const* name, unsigned long long flags) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t const error =
      cudaGetDriverEntryPointByVersion(name, &found, CUDART_VERSION, flags, &status);
#else
  cudaError_t const error = cudaGetDriverEntryPoint(name, &found, flags, &status);
#endif
  if (error == cudaSuccess) return reinterpret_cast<Function>(found);
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
inline constexpr unsigned long long driver_stream_flags = cudaEnablePerThreadDefaultStream;
#else
inline constexpr unsigned long long driver_stream_flags = cudaEnableDefault;
#endif

// Devices

inline hipError_t hipGetDeviceCount(int* count) { return from_cuda(cudaGetDeviceCount(count)); }
inline hipError_t hipGetDevice(int* device) { return from_cuda(cudaGetDevice(device)); }
inline hipError_t hipSetDevice(int device) { return from_cuda(cudaSetDevice(device)); }
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return from_cuda(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
inline hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  if (name == nullptr || length <= 0) return hipErrorInvalidValue;
  cudaDeviceProp properties;
  cudaError_t const error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return from_cuda(error);
  std::size_t const capacity = static_cast<std::size_t>(length) - 1;
  std::size_t const size = std::strlen(properties.name);
  std::size_t const copied = size < capacity ? size : capacity;
  std::memcpy(name, properties.name, copied);
  name[copied] = '\0';
  return hipSuccess;
}
inline hipError_t hipDeviceGetPCIBusId(char* id, int length, hipDevice_t device) {
  return from_cuda(cudaDeviceGetPCIBusId(id, length, device));
}
inline hipError_t hipDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return from_cuda(cudaDeviceCanAccessPeer(can_access, device, peer));
}
inline hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return from_cuda(cudaDeviceEnablePeerAccess(peer, flags));
}
inline hipError_t hipDeviceDisablePeerAccess(int peer) {
  return from_cuda(cudaDeviceDisablePeerAccess(peer));
}
inline hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int device,
                                           int peer) {
  return from_cuda(cudaDeviceGetP2PAttribute(value, attribute, device, peer));
}
/// CUDA's runtime does not tell the type of a link.
inline hipError_t hipExtGetLinkTypeAndHopCount(int, int, std::uint32_t*, std::uint32_t*) {
  return hipErrorNotSupported;
}
inline hipError_t hipDeviceSynchronize() { return from_cuda(cudaDeviceSynchronize()); }
inline hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return from_cuda(cudaDeviceGetStreamPriorityRange(least, greatest));
}
inline hipError_t hipRuntimeGetVersion(int* version) {
  return from_cuda(cudaRuntimeGetVersion(version));
}
inline hipError_t hipDriverGetVersion(int* version) {
  return from_cuda(cudaDriverGetVersion(version));
}
inline hipError_t hipMemGetInfo(std::size_t* available, std::size_t* total) {
  return from_cuda(cudaMemGetInfo(available, total));
}

// Errors

inline hipError_t hipGetLastError() { return from_cuda(cudaGetLastError()); }
inline hipError_t hipPeekAtLastError() { return from_cuda(cudaPeekAtLastError()); }
/// Returns CUDA's name of the code ("cudaErrorInvalidValue"), as HIP's headers do.
inline char const* hipGetErrorName(hipError_t error) { return cudaGetErrorName(to_cuda(error)); }
inline char const* hipGetErrorString(hipError_t error) {
  return cudaGetErrorString(to_cuda(error));
}

// Memory

inline hipError_t hipMalloc(void** memory, std::size_t size) {
  return from_cuda(cudaMalloc(memory, size));
}
inline hipError_t hipFree(void* memory) { return from_cuda(cudaFree(memory)); }
inline hipError_t hipHostMalloc(void** memory, std::size_t size,
                                unsigned flags = hipHostMallocDefault) {
  return from_cuda(cudaHostAlloc(memory, size, flags));
}
inline hipError_t hipHostFree(void* memory) { return from_cuda(cudaFreeHost(memory)); }
inline hipError_t hipHostGetFlags(unsigned* flags, void* memory) {
  return from_cuda(cudaHostGetFlags(flags, memory));
}
inline hipError_t hipHostGetDevicePointer(void** device_memory, void* host_memory, unsigned flags) {
  return from_cuda(cudaHostGetDevicePointer(device_memory, host_memory, flags));
}
inline hipError_t hipHostRegister(void* memory, std::size_t size, unsigned flags) {
  return from_cuda(cudaHostRegister(memory, size, flags));
}
inline hipError_t hipHostUnregister(void* memory) { return from_cuda(cudaHostUnregister(memory)); }
/// Returns hipErrorInvalidValue, without setting the last error, for memory that CUDA does not
/// know.
inline hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, void const* memory) {
  cudaPointerAttributes cuda_attributes;
  cudaError_t const error = cudaPointerGetAttributes(&cuda_attributes, memory);
  if (error != cudaSuccess) return from_cuda(error);
  switch (cuda_attributes.type) {
    case cudaMemoryTypeHost: attributes->type = hipMemoryTypeHost; break;
    case cudaMemoryTypeDevice: attributes->type = hipMemoryTypeDevice; break;
    case cudaMemoryTypeManaged: attributes->type = hipMemoryTypeManaged; break;
    default: return hipErrorInvalidValue;
  }
  attributes->device = cuda_attributes.device;
  attributes->devicePointer = cuda_attributes.devicePointer;
  attributes->hostPointer = cuda_attributes.hostPointer;
  attributes->isManaged = 0;
  attributes->allocationFlags = 0;
  return hipSuccess;
}
/// Calls the driver: see find_driver_call.
inline hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute,
                                         hipDeviceptr_t memory) {
  using function = int (*)(void*, int, unsigned long long);
  static auto const call = find_driver_call<function>("cuPointerGetAttribute", cudaEnableDefault);
  bool const is_set = call != nullptr && call(value, static_cast<int>(attribute), memory) == 0;
  return is_set ? hipSuccess : hipErrorInvalidValue;
}

// Managed memory. CUDA 13 takes locations instead of device numbers.

inline hipError_t hipMallocManaged(void** memory, std::size_t size, unsigned flags) {
  return from_cuda(cudaMallocManaged(memory, size, flags));
}
#if CUDART_VERSION >= 13000
inline cudaMemLocation location_of(int device) {
  cudaMemLocation location;
  std::memset(&location, 0, sizeof location);
  bool const host = device == cudaCpuDeviceId;
  location.type = host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = host ? 0 : device;
  return location;
}
inline hipError_t hipMemAdvise(void const* memory, std::size_t size, hipMemoryAdvise advice,
                               int device) {
  return from_cuda(cudaMemAdvise(memory, size, advice, location_of(device)));
}
inline hipError_t hipMemPrefetchAsync(void const* memory, std::size_t size, int device,
                                      hipStream_t stream = nullptr) {
  return from_cuda(cudaMemPrefetchAsync(memory, size, location_of(device), 0U, stream));
}
#else
inline hipError_t hipMemAdvise(void const* memory, std::size_t size, hipMemoryAdvise advice,
                               int device) {
  return from_cuda(cudaMemAdvise(memory, size, advice, device));
}
inline hipError_t hipMemPrefetchAsync(void const* memory, std::size_t size, int device,
                                      hipStream_t stream = nullptr) {
  return from_cuda(cudaMemPrefetchAsync(memory, size, device, stream));
}
#endif
inline hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* memory, std::size_t size,
                                          unsigned flags) {
  return from_cuda(cudaStreamAttachMemAsync(stream, memory, size, flags));
}

// Memory pools

inline hipError_t hipMallocAsync(void** memory, std::size_t size, hipStream_t stream) {
  return from_cuda(cudaMallocAsync(memory, size, stream));
}
inline hipError_t hipMallocFromPoolAsync(void** memory, std::size_t size, hipMemPool_t pool,
                                         hipStream_t stream) {
  return from_cuda(cudaMallocFromPoolAsync(memory, size, pool, stream));
}
inline hipError_t hipFreeAsync(void* memory, hipStream_t stream) {
  return from_cuda(cudaFreeAsync(memory, stream));
}
inline hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return from_cuda(cudaDeviceGetDefaultMemPool(pool, device));
}
inline hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return from_cuda(cudaMemPoolSetAttribute(pool, attribute, value));
}
inline hipError_t hipMemPoolSetAccess(hipMemPool_t pool, hipMemAccessDesc const* accesses,
                                      std::size_t count) {
  return from_cuda(cudaMemPoolSetAccess(pool, accesses, count));
}
inline hipError_t hipMemPoolTrimTo(hipMemPool_t pool, std::size_t keep) {
  return from_cuda(cudaMemPoolTrimTo(pool, keep));
}

// Memory and events of other processes

inline hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* memory) {
  return from_cuda(cudaIpcGetMemHandle(handle, memory));
}
inline hipError_t hipIpcOpenMemHandle(void** memory, hipIpcMemHandle_t handle, unsigned flags) {
  return from_cuda(cudaIpcOpenMemHandle(memory, handle, flags));
}
inline hipError_t hipIpcCloseMemHandle(void* memory) {
  return from_cuda(cudaIpcCloseMemHandle(memory));
}
inline hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return from_cuda(cudaIpcGetEventHandle(handle, event));
}
inline hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return from_cuda(cudaIpcOpenEventHandle(event, handle));
}

// Copies

inline hipError_t hipMemcpy(void* to, void const* from, std::size_t size, hipMemcpyKind kind) {
  return from_cuda(cudaMemcpy(to, from, size, kind));
}
inline hipError_t hipMemcpyAsync(void* to, void const* from, std::size_t size, hipMemcpyKind kind,
                                 hipStream_t stream = nullptr) {
  return from_cuda(cudaMemcpyAsync(to, from, size, kind, stream));
}
inline hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   hipMemcpyKind kind, hipStream_t stream = nullptr) {
  return from_cuda(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream));
}
inline hipError_t hipMemcpy3DAsync(hipMemcpy3DParms const* copy, hipStream_t stream = nullptr) {
  return from_cuda(cudaMemcpy3DAsync(copy, stream));
}
inline hipError_t hipMemsetAsync(void* memory, int value, std::size_t size,
                                 hipStream_t stream = nullptr) {
  return from_cuda(cudaMemsetAsync(memory, value, size, stream));
}

// Textures

inline hipError_t hipCreateTextureObject(hipTextureObject_t* texture,
                                         hipResourceDesc const* resource,
                                         hipTextureDesc const* description,
                                         hipResourceViewDesc const* view) {
  return from_cuda(cudaCreateTextureObject(texture, resource, description, view));
}
inline hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  return from_cuda(cudaDestroyTextureObject(texture));
}

// Streams

inline hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return from_cuda(cudaStreamCreateWithFlags(stream, flags));
}
inline hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return from_cuda(cudaStreamCreateWithPriority(stream, flags, priority));
}
inline hipError_t hipStreamDestroy(hipStream_t stream) {
  return from_cuda(cudaStreamDestroy(stream));
}
inline hipError_t hipStreamSynchronize(hipStream_t stream) {
  return from_cuda(cudaStreamSynchronize(stream));
}
inline hipError_t hipStreamQuery(hipStream_t stream) { return from_cuda(cudaStreamQuery(stream)); }
inline hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return from_cuda(cudaStreamWaitEvent(stream, event, flags));
}
inline hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return from_cuda(cudaStreamGetFlags(stream, flags));
}
inline hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return from_cuda(cudaStreamGetPriority(stream, priority));
}
inline hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return from_cuda(cudaStreamIsCapturing(stream, status));
}
using driver_stream_value_call = int (*)(cudaStream_t, unsigned long long, unsigned long long,
                                         unsigned);
/// Calls the driver: see find_driver_call. CUDA has no mask; as HIP's headers do, this ignores it.
inline hipError_t hipStreamWaitValue64(hipStream_t stream, void* address, std::uint64_t value,
                                       unsigned flags, std::uint64_t = UINT64_MAX) {
  static auto const call =
      find_driver_call<driver_stream_value_call>("cuStreamWaitValue64", driver_stream_flags);
  if (call == nullptr) return hipErrorNotInitialized;
  auto const target = reinterpret_cast<unsigned long long>(address);
  return from_cuda(static_cast<cudaError_t>(call(stream, target, value, flags)));
}
/// Calls the driver: see find_driver_call.
inline hipError_t hipStreamWriteValue64(hipStream_t stream, void* address, std::uint64_t value,
                                        unsigned flags) {
  static auto const call =
      find_driver_call<driver_stream_value_call>("cuStreamWriteValue64", driver_stream_flags);
  if (call == nullptr) return hipErrorNotInitialized;
  auto const target = reinterpret_cast<unsigned long long>(address);
  return from_cuda(static_cast<cudaError_t>(call(stream, target, value, flags)));
}
inline hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return from_cuda(cudaLaunchHostFunc(stream, function, data));
}

// Graphs

inline hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return from_cuda(cudaStreamBeginCapture(stream, mode));
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return from_cuda(cudaStreamEndCapture(stream, graph));
}
inline hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                          unsigned long long* id) {
  return from_cuda(cudaStreamGetCaptureInfo(stream, status, id));
}
inline hipError_t hipGraphDestroy(hipGraph_t graph) { return from_cuda(cudaGraphDestroy(graph)); }
inline hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable, hipGraph_t graph,
                                               unsigned long long flags) {
  return from_cuda(cudaGraphInstantiateWithFlags(executable, graph, flags));
}
inline hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph,
                                     hipGraphNode_t* failed_node,
                                     hipGraphExecUpdateResult* update_result) {
#if CUDART_VERSION >= 12000
  cudaGraphExecUpdateResultInfo information{};
  cudaError_t const result = cudaGraphExecUpdate(executable, graph, &information);
  *update_result = information.result;
  if (failed_node != nullptr) *failed_node = information.errorNode;
  return from_cuda(result);
#else
  return from_cuda(cudaGraphExecUpdate(executable, graph, failed_node, update_result));
#endif
}
inline hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return from_cuda(cudaGraphExecDestroy(executable));
}
inline hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return from_cuda(cudaGraphLaunch(executable, stream));
}

// Events

inline hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return from_cuda(cudaEventCreateWithFlags(event, flags));
}
inline hipError_t hipEventDestroy(hipEvent_t event) { return from_cuda(cudaEventDestroy(event)); }
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr) {
  return from_cuda(cudaEventRecord(event, stream));
}
inline hipError_t hipEventSynchronize(hipEvent_t event) {
  return from_cuda(cudaEventSynchronize(event));
}
inline hipError_t hipEventQuery(hipEvent_t event) { return from_cuda(cudaEventQuery(event)); }
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return from_cuda(cudaEventElapsedTime(milliseconds, start, stop));
}

}  // namespace roc::cuda_alias
