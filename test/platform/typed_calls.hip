// SPDX-License-Identifier: MIT
// Calls of HIP as translated CUDA programs write them. It is enough that they compile.
#include <roc/native/hip.hpp>

#include <cstddef>

__global__ void kernel(float* data, std::size_t size) { data[0] = static_cast<float>(size); }

// Returns the first error.
hipError_t call_with_types(hipStream_t stream, hipMemPool_t pool) {
  float* floats = nullptr;
  double* doubles = nullptr;
  void* untyped = nullptr;
  std::size_t pitch = 0;
  std::size_t size = 1;
  hipFuncAttributes attributes{};
  void* arguments[] = {&floats, &size};
  hipError_t const results[] = {
      hipMalloc(&floats, 100),
      hipMalloc(&untyped, 100),
      hipMallocPitch(&floats, &pitch, 100, 100),
      hipMallocPitch(&untyped, &pitch, 100, 100),
      hipMallocManaged(&doubles, 100),
      hipMallocManaged(&untyped, 100, hipMemAttachGlobal),
      hipMallocAsync(&floats, 100, stream),
      hipMallocFromPoolAsync(&floats, 100, pool, stream),
      hipHostMalloc(&doubles, 100),
      hipHostMalloc(&untyped, 100, hipHostMallocMapped),
      hipHostAlloc(&doubles, 100, hipHostMallocMapped),
      hipHostGetDevicePointer(&floats, doubles, 0),
      hipFuncGetAttributes(&attributes, kernel),
      hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 100),
      hipFuncSetCacheConfig(kernel, hipFuncCachePreferL1),
      hipFuncSetSharedMemConfig(kernel, hipSharedMemBankSizeFourByte),
      hipLaunchKernel(kernel, dim3(1), dim3(32), arguments),
      hipLaunchKernel(reinterpret_cast<void const*>(kernel), dim3(1), dim3(32), arguments, 0, stream),
  };
  for (hipError_t const result : results) {
    if (result != hipSuccess) return result;
  }
  return hipSuccess;
}
