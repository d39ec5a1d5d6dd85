// SPDX-License-Identifier: MIT
// The list of all HIP functions that the library, its tests and its tools call.
//
// To add a function: add a line here (in its group), its signature in test/platform/signatures.hpp,
// its implementation on the CPU (declared in roc/native/host_hip.hpp, defined in
// src/platform/host/api) and its alias in roc/native/cuda_alias.hpp. test/platform/calls_test.cpp
// checks that all of them agree with this list.
#pragma once

#define ROCARRAY_HIP_CALLS(X)        \
  /* devices */                      \
  X(hipGetDeviceCount)               \
  X(hipGetDevice)                    \
  X(hipSetDevice)                    \
  X(hipDeviceGetAttribute)           \
  X(hipDeviceGetName)                \
  X(hipDeviceGetPCIBusId)            \
  X(hipDeviceCanAccessPeer)          \
  X(hipDeviceEnablePeerAccess)       \
  X(hipDeviceDisablePeerAccess)      \
  X(hipDeviceGetP2PAttribute)        \
  X(hipExtGetLinkTypeAndHopCount)    \
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
  X(hipPointerGetAttribute)          \
  X(hipMallocManaged)                \
  X(hipMemAdvise)                    \
  X(hipMemPrefetchAsync)             \
  X(hipStreamAttachMemAsync)         \
  /* stream-ordered allocation */    \
  X(hipMallocAsync)                  \
  X(hipMallocFromPoolAsync)          \
  X(hipFreeAsync)                    \
  X(hipDeviceGetDefaultMemPool)      \
  X(hipMemPoolSetAttribute)          \
  X(hipMemPoolSetAccess)             \
  X(hipMemPoolTrimTo)                \
  /* memory of other processes */    \
  X(hipIpcGetMemHandle)              \
  X(hipIpcOpenMemHandle)             \
  X(hipIpcCloseMemHandle)            \
  X(hipIpcGetEventHandle)            \
  X(hipIpcOpenEventHandle)           \
  /* copies */                       \
  X(hipMemcpy)                       \
  X(hipMemcpyAsync)                  \
  X(hipMemcpy2DAsync)                \
  X(hipMemcpy3DAsync)                \
  X(hipMemsetAsync)                  \
  /* textures */                     \
  X(hipCreateTextureObject)          \
  X(hipDestroyTextureObject)         \
  /* streams */                      \
  X(hipStreamCreateWithFlags)        \
  X(hipStreamCreateWithPriority)     \
  X(hipStreamDestroy)                \
  X(hipStreamSynchronize)            \
  X(hipStreamQuery)                  \
  X(hipStreamWaitEvent)              \
  X(hipStreamGetFlags)               \
  X(hipStreamGetPriority)            \
  X(hipStreamIsCapturing)            \
  X(hipLaunchHostFunc)               \
  /* stream memory operations */     \
  X(hipStreamWaitValue64)            \
  X(hipStreamWriteValue64)           \
  /* graphs */                       \
  X(hipStreamBeginCapture)           \
  X(hipStreamEndCapture)             \
  X(hipStreamGetCaptureInfo)         \
  X(hipGraphDestroy)                 \
  X(hipGraphInstantiateWithFlags)    \
  X(hipGraphExecUpdate)              \
  X(hipGraphExecDestroy)             \
  X(hipGraphLaunch)                  \
  /* events */                       \
  X(hipEventCreateWithFlags)         \
  X(hipEventDestroy)                 \
  X(hipEventRecord)                  \
  X(hipEventSynchronize)             \
  X(hipEventQuery)                   \
  X(hipEventElapsedTime)
