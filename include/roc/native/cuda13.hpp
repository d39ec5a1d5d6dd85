// SPDX-License-Identifier: MIT
// The nvidia platform with HIP's own headers (5.2 and later), made to work with CUDA 12 and 13.
//
// HIP's wrappers over CUDA were written for older toolkits. They are plain C++ functions, so what a
// newer toolkit took away is put back as overloads with the old signatures; only a struct whose
// members are gone, and a template, need a macro, and none outlives this file. The whole of HIP
// stays usable, not only the calls that rocarray makes. Include this before any header of HIP.
#pragma once

#ifndef __HIP_PLATFORM_NVIDIA__
#define __HIP_PLATFORM_NVIDIA__ 1
#endif

// Everything that HIP's headers include themselves, seen before the macros below.
#include <cuda_runtime.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>

#include <cassert>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <roc/native/cuda12_removed.hpp>
#include <roc/native/cuda13_removed.hpp>

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
// HIP 5 redefines assert in device code, without brackets around what is asserted.
#pragma push_macro("assert")

#include <roc/native/cuda_driver_begin.hpp>
#include <hip/hip_version.h>
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

/// HIP 5.2's headers lack this call on NVIDIA, and later ones have it under nvcc only. A template:
/// where HIP has the function, overload resolution prefers HIP's.
template <class Unused = void>
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return hipCUDAErrorTohipError(cudaLaunchHostFunc(stream, function, data));
}

/// HIP's wrapper takes a hipDeviceptr_t* here, unlike on AMD. A template, as the one above.
template <class Unused = void>
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* memory, std::size_t size,
                                   unsigned flags) {
  return hipCUDAErrorTohipError(cudaStreamAttachMemAsync(stream, memory, size, flags));
}
