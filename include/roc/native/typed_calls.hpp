// SPDX-License-Identifier: MIT
// HIP's functions that take an untyped address, for addresses of any type: CUDA's header has such
// overloads of them, HIP's only of some, depending on its version and platform. Translated CUDA
// programs need them: hipMallocPitch(&floats, …), hipFuncSetAttribute(kernel, …). Included by
// <roc/native/hip.hpp>.
//
// If HIP's header has the same overload, the compiler chooses the one of this file, because it is
// constrained. Both do the same.
#pragma once

#include <cstddef>
#include <type_traits>

template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipMalloc(T** memory, std::size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipMallocPitch(T** memory, std::size_t* pitch, std::size_t width, std::size_t height) {
  return hipMallocPitch(reinterpret_cast<void**>(memory), pitch, width, height);
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipMallocManaged(T** memory, std::size_t bytes, unsigned flags = hipMemAttachGlobal) {
  return hipMallocManaged(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipMallocAsync(T** memory, std::size_t bytes, hipStream_t stream) {
  return hipMallocAsync(reinterpret_cast<void**>(memory), bytes, stream);
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipMallocFromPoolAsync(T** memory, std::size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  return hipMallocFromPoolAsync(reinterpret_cast<void**>(memory), bytes, pool, stream);
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipHostMalloc(T** memory, std::size_t bytes, unsigned flags = hipHostMallocDefault) {
  return hipHostMalloc(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipHostAlloc(T** memory, std::size_t bytes, unsigned flags) {
  return hipHostMalloc(memory, bytes, flags);  // HIP deprecates the other name
}
template <class T>
  requires(!std::is_void_v<T>)
hipError_t hipHostGetDevicePointer(T** device_memory, void* host_memory, unsigned flags) {
  return hipHostGetDevicePointer(reinterpret_cast<void**>(device_memory), host_memory, flags);
}

template <class F>
  requires std::is_function_v<F>
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, F* kernel) {
  return hipFuncGetAttributes(attributes, reinterpret_cast<void const*>(kernel));
}
template <class F>
  requires std::is_function_v<F>
hipError_t hipFuncSetAttribute(F* kernel, hipFuncAttribute attribute, int value) {
  return hipFuncSetAttribute(reinterpret_cast<void const*>(kernel), attribute, value);
}
template <class F>
  requires std::is_function_v<F>
hipError_t hipFuncSetCacheConfig(F* kernel, hipFuncCache_t config) {
  return hipFuncSetCacheConfig(reinterpret_cast<void const*>(kernel), config);
}
template <class F>
  requires std::is_function_v<F>
hipError_t hipFuncSetSharedMemConfig(F* kernel, hipSharedMemConfig config) {
  return hipFuncSetSharedMemConfig(reinterpret_cast<void const*>(kernel), config);
}
template <class F>
  requires std::is_function_v<F>
hipError_t hipLaunchKernel(F* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes = 0, hipStream_t stream = nullptr) {
  return hipLaunchKernel(reinterpret_cast<void const*>(kernel), grid, block, arguments,
                         shared_bytes, stream);
}
