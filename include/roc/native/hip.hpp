// SPDX-License-Identifier: MIT
// HIP's types and calls from the platform's provider: the one place that picks it.
//
// Exactly one of ROCARRAY_PLATFORM_HOST, ROCARRAY_PLATFORM_AMD and ROCARRAY_PLATFORM_NVIDIA is 1. The build sets
// it (the exported CMake target carries it); where none is set, the compiler at hand decides.
#pragma once

#if !defined(ROCARRAY_PLATFORM_HOST) && !defined(ROCARRAY_PLATFORM_AMD) && !defined(ROCARRAY_PLATFORM_NVIDIA)
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)
#define ROCARRAY_PLATFORM_AMD 1
#elif defined(__HIP_PLATFORM_NVIDIA__) || defined(__CUDACC__)
#define ROCARRAY_PLATFORM_NVIDIA 1
#else
#define ROCARRAY_PLATFORM_HOST 1
#endif
#endif

#if ROCARRAY_PLATFORM_HOST + ROCARRAY_PLATFORM_AMD + ROCARRAY_PLATFORM_NVIDIA != 1
#error "rocarray: exactly one of ROCARRAY_PLATFORM_HOST, ROCARRAY_PLATFORM_AMD, ROCARRAY_PLATFORM_NVIDIA must be 1"
#endif

#if ROCARRAY_PLATFORM_AMD
#include <roc/native/rocm.hpp>
#elif ROCARRAY_PLATFORM_NVIDIA
// Without HIP's headers (or where ROCARRAY_NATIVE_ALIAS is 1) the calls we use are aliases of CUDA's.
#if !ROCARRAY_NATIVE_ALIAS && __has_include(<hip/nvidia_detail/nvidia_hip_runtime_api.h>)
#include <roc/native/cuda13.hpp>
#else
#include <roc/native/cuda_alias.hpp>
using namespace roc::cuda_alias;
#endif
#else
#include <roc/native/host_hip.hpp>
using namespace roc::host_hip;
#endif

#include <roc/native/version_differences.hpp>
