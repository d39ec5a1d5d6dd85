// SPDX-License-Identifier: MIT
// The signatures of the calls in platform/calls.hpp, which every platform's HIP must have.
#pragma once

#include "platform/hip.hpp"

#include <cstddef>
#include <cstdint>

#define ROCARRAY_HIP_SIGNATURES(X)                                                                \
  X(hipGetDeviceCount, hipError_t(int*))                                                          \
  X(hipGetDevice, hipError_t(int*))                                                               \
  X(hipSetDevice, hipError_t(int))                                                                \
  X(hipDeviceGetAttribute, hipError_t(int*, hipDeviceAttribute_t, int))                           \
  X(hipDeviceGetName, hipError_t(char*, int, hipDevice_t))                                        \
  X(hipDeviceGetPCIBusId, hipError_t(char*, int, int))                                            \
  X(hipDeviceCanAccessPeer, hipError_t(int*, int, int))                                           \
  X(hipDeviceEnablePeerAccess, hipError_t(int, unsigned))                                         \
  X(hipDeviceDisablePeerAccess, hipError_t(int))                                                  \
  X(hipDeviceGetP2PAttribute, hipError_t(int*, hipDeviceP2PAttr, int, int))                       \
  X(hipExtGetLinkTypeAndHopCount, hipError_t(int, int, std::uint32_t*, std::uint32_t*))           \
  X(hipDeviceSynchronize, hipError_t())                                                           \
  X(hipDeviceGetStreamPriorityRange, hipError_t(int*, int*))                                      \
  X(hipRuntimeGetVersion, hipError_t(int*))                                                       \
  X(hipDriverGetVersion, hipError_t(int*))                                                        \
  X(hipMemGetInfo, hipError_t(std::size_t*, std::size_t*))                                        \
  X(hipGetLastError, hipError_t())                                                                \
  X(hipPeekAtLastError, hipError_t())                                                             \
  X(hipGetErrorName, char const*(hipError_t))                                                     \
  X(hipGetErrorString, char const*(hipError_t))                                                   \
  X(hipMalloc, hipError_t(void**, std::size_t))                                                   \
  X(hipFree, hipError_t(void*))                                                                   \
  X(hipHostMalloc, hipError_t(void**, std::size_t, unsigned))                                     \
  X(hipHostFree, hipError_t(void*))                                                               \
  X(hipHostGetFlags, hipError_t(unsigned*, void*))                                                \
  X(hipHostGetDevicePointer, hipError_t(void**, void*, unsigned))                                 \
  X(hipHostRegister, hipError_t(void*, std::size_t, unsigned))                                    \
  X(hipHostUnregister, hipError_t(void*))                                                         \
  X(hipPointerGetAttributes, hipError_t(hipPointerAttribute_t*, void const*))                     \
  X(hipPointerGetAttribute, hipError_t(void*, hipPointer_attribute, hipDeviceptr_t))              \
  X(hipMallocManaged, hipError_t(void**, std::size_t, unsigned))                                  \
  X(hipMemAdvise, hipError_t(void const*, std::size_t, hipMemoryAdvise, int))                     \
  X(hipMemPrefetchAsync, hipError_t(void const*, std::size_t, int, hipStream_t))                  \
  X(hipStreamAttachMemAsync, hipError_t(hipStream_t, void*, std::size_t, unsigned))               \
  X(hipMallocAsync, hipError_t(void**, std::size_t, hipStream_t))                                 \
  X(hipMallocFromPoolAsync, hipError_t(void**, std::size_t, hipMemPool_t, hipStream_t))           \
  X(hipFreeAsync, hipError_t(void*, hipStream_t))                                                 \
  X(hipDeviceGetDefaultMemPool, hipError_t(hipMemPool_t*, int))                                   \
  X(hipMemPoolSetAttribute, hipError_t(hipMemPool_t, hipMemPoolAttr, void*))                      \
  X(hipMemPoolSetAccess, hipError_t(hipMemPool_t, hipMemAccessDesc const*, std::size_t))          \
  X(hipMemPoolTrimTo, hipError_t(hipMemPool_t, std::size_t))                                      \
  X(hipIpcGetMemHandle, hipError_t(hipIpcMemHandle_t*, void*))                                    \
  X(hipIpcOpenMemHandle, hipError_t(void**, hipIpcMemHandle_t, unsigned))                         \
  X(hipIpcCloseMemHandle, hipError_t(void*))                                                      \
  X(hipIpcGetEventHandle, hipError_t(hipIpcEventHandle_t*, hipEvent_t))                           \
  X(hipIpcOpenEventHandle, hipError_t(hipEvent_t*, hipIpcEventHandle_t))                          \
  X(hipMemcpy, hipError_t(void*, void const*, std::size_t, hipMemcpyKind))                        \
  X(hipMemcpyAsync, hipError_t(void*, void const*, std::size_t, hipMemcpyKind, hipStream_t))      \
  X(hipMemcpy2DAsync, hipError_t(void*, std::size_t, void const*, std::size_t, std::size_t,       \
                                 std::size_t, hipMemcpyKind, hipStream_t))                        \
  X(hipMemcpy3DAsync, hipError_t(hipMemcpy3DParms const*, hipStream_t))                           \
  X(hipMemsetAsync, hipError_t(void*, int, std::size_t, hipStream_t))                             \
  X(hipCreateTextureObject, hipError_t(hipTextureObject_t*, hipResourceDesc const*,               \
                                       hipTextureDesc const*, hipResourceViewDesc const*))        \
  X(hipDestroyTextureObject, hipError_t(hipTextureObject_t))                                      \
  X(hipStreamCreateWithFlags, hipError_t(hipStream_t*, unsigned))                                 \
  X(hipStreamCreateWithPriority, hipError_t(hipStream_t*, unsigned, int))                         \
  X(hipStreamDestroy, hipError_t(hipStream_t))                                                    \
  X(hipStreamSynchronize, hipError_t(hipStream_t))                                                \
  X(hipStreamQuery, hipError_t(hipStream_t))                                                      \
  X(hipStreamWaitEvent, hipError_t(hipStream_t, hipEvent_t, unsigned))                            \
  X(hipStreamGetFlags, hipError_t(hipStream_t, unsigned*))                                        \
  X(hipStreamGetPriority, hipError_t(hipStream_t, int*))                                          \
  X(hipStreamIsCapturing, hipError_t(hipStream_t, hipStreamCaptureStatus*))                       \
  X(hipStreamWaitValue64, hipError_t(hipStream_t, void*, std::uint64_t, unsigned, std::uint64_t)) \
  X(hipStreamWriteValue64, hipError_t(hipStream_t, void*, std::uint64_t, unsigned))               \
  X(hipLaunchHostFunc, hipError_t(hipStream_t, hipHostFn_t, void*))                               \
  X(hipStreamBeginCapture, hipError_t(hipStream_t, hipStreamCaptureMode))                         \
  X(hipStreamEndCapture, hipError_t(hipStream_t, hipGraph_t*))                                    \
  X(hipStreamGetCaptureInfo,                                                                      \
    hipError_t(hipStream_t, hipStreamCaptureStatus*, unsigned long long*))                        \
  X(hipGraphDestroy, hipError_t(hipGraph_t))                                                      \
  X(hipGraphInstantiateWithFlags, hipError_t(hipGraphExec_t*, hipGraph_t, unsigned long long))    \
  X(hipGraphExecUpdate,                                                                           \
    hipError_t(hipGraphExec_t, hipGraph_t, hipGraphNode_t*, hipGraphExecUpdateResult*))           \
  X(hipGraphExecDestroy, hipError_t(hipGraphExec_t))                                              \
  X(hipGraphLaunch, hipError_t(hipGraphExec_t, hipStream_t))                                      \
  X(hipEventCreateWithFlags, hipError_t(hipEvent_t*, unsigned))                                   \
  X(hipEventDestroy, hipError_t(hipEvent_t))                                                      \
  X(hipEventRecord, hipError_t(hipEvent_t, hipStream_t))                                          \
  X(hipEventSynchronize, hipError_t(hipEvent_t))                                                  \
  X(hipEventQuery, hipError_t(hipEvent_t))                                                        \
  X(hipEventElapsedTime, hipError_t(float*, hipEvent_t, hipEvent_t))
