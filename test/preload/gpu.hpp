// SPDX-License-Identifier: MIT
// The calls of the test programs, under one name for HIP and CUDA. Nothing of rocarray.
#pragma once

#if defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime_api.h>
#define GPU(name) hip##name
#else
#include <cuda_runtime_api.h>
#define GPU(name) cuda##name
#define hipHostMalloc cudaHostAlloc
#define hipHostFree cudaFreeHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipMemAttachGlobal cudaMemAttachGlobal
#define hipErrorInvalidValue cudaErrorInvalidValue
#endif
