// SPDX-License-Identifier: MIT
// HIP's types and calls from the platform's provider: the one place that picks it.
//
// Exactly one of ROC_PLATFORM_HOST, ROC_PLATFORM_AMD and ROC_PLATFORM_NVIDIA is 1. The build sets
// it (the exported CMake target carries it); where none is set, the compiler at hand decides.
#pragma once

#if !defined(ROC_PLATFORM_HOST) && !defined(ROC_PLATFORM_AMD) && !defined(ROC_PLATFORM_NVIDIA)
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)
#define ROC_PLATFORM_AMD 1
#elif defined(__HIP_PLATFORM_NVIDIA__) || defined(__CUDACC__)
#define ROC_PLATFORM_NVIDIA 1
#else
#define ROC_PLATFORM_HOST 1
#endif
#endif

#if ROC_PLATFORM_HOST + ROC_PLATFORM_AMD + ROC_PLATFORM_NVIDIA != 1
#error "rocarray: exactly one of ROC_PLATFORM_HOST, ROC_PLATFORM_AMD, ROC_PLATFORM_NVIDIA must be 1"
#endif

#if ROC_PLATFORM_AMD
#include <roc/native/rocm.hpp>
#elif ROC_PLATFORM_NVIDIA
// Without HIP's headers (or where ROC_NATIVE_ALIAS is 1) the calls we use are aliases of CUDA's.
#if !ROC_NATIVE_ALIAS && __has_include(<hip/nvidia_detail/nvidia_hip_runtime_api.h>)
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
