// SPDX-License-Identifier: MIT
// The list: every HIP function that the library, its tests and its tools call.
//
// To add one: a line here (in its group), its signature in test/platform/signatures.hpp, a
// definition in the host provider (roc/native/host_hip.hpp, src/platform/host) and one in
// roc/native/cuda_alias.hpp. test/platform/calls_test.cpp holds all of them to the same list.
#pragma once

#define ROCARRAY_HIP_CALLS(X)             \
  /* devices */                      \
  X(hipGetDeviceCount)               \
  X(hipGetDevice)                    \
  X(hipSetDevice)                    \
  X(hipDeviceGetAttribute)           \
  X(hipDeviceGetName)                \
  X(hipDeviceGetPCIBusId)            \
  X(hipDeviceCanAccessPeer)          \
  X(hipDeviceSynchronize)            \
  X(hipDeviceGetStreamPriorityRange) \
  X(hipRuntimeGetVersion)            \
  X(hipDriverGetVersion)             \
  X(hipMemGetInfo)                   \
  /* errors */                       \
  X(hipGetLastError)                 \
  X(hipPeekAtLastError)              \
  X(hipGetErrorName)                 \
  X(hipGetErrorString)               \
  /* memory */                       \
  X(hipMalloc)                       \
  X(hipFree)                         \
  X(hipHostMalloc)                   \
  X(hipHostFree)                     \
  X(hipHostGetFlags)                 \
  X(hipHostGetDevicePointer)         \
  X(hipHostRegister)                 \
  X(hipHostUnregister)               \
  X(hipPointerGetAttributes)         \
  X(hipMallocManaged)                \
  X(hipMemAdvise)                    \
  X(hipMemPrefetchAsync)             \
  X(hipStreamAttachMemAsync)         \
  /* memory pools of the driver */    \
  X(hipMallocAsync)                  \
  X(hipFreeAsync)                    \
  X(hipDeviceGetDefaultMemPool)      \
  X(hipMemPoolSetAttribute)          \
  X(hipMemPoolTrimTo)                \
  /* copies */                       \
  X(hipMemcpy)                       \
  X(hipMemcpyAsync)                  \
  X(hipMemcpy2DAsync)                \
  X(hipMemcpy3DAsync)                \
  X(hipMemsetAsync)                  \
  /* streams */                      \
  X(hipStreamCreateWithFlags)        \
  X(hipStreamCreateWithPriority)     \
  X(hipStreamDestroy)                \
  X(hipStreamSynchronize)            \
  X(hipStreamQuery)                  \
  X(hipStreamWaitEvent)              \
  X(hipStreamGetFlags)               \
  X(hipStreamGetPriority)            \
  X(hipLaunchHostFunc)               \
  /* events */                       \
  X(hipEventCreateWithFlags)         \
  X(hipEventDestroy)                 \
  X(hipEventRecord)                  \
  X(hipEventSynchronize)             \
  X(hipEventQuery)                   \
  X(hipEventElapsedTime)
