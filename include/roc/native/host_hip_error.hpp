// SPDX-License-Identifier: MIT
// HIP's error codes on the host platform, with HIP's numbers. Included by host_hip.hpp, and alone
// by the fake HIP runtime, which has the enumeration of the real one.
#pragma once

/// Expands X(name, number, text) for every error code.
#define ROCARRAY_HOST_HIP_ERRORS(X)                                                        \
  X(hipSuccess, 0, "no error")                                                             \
  X(hipErrorInvalidValue, 1, "invalid argument")                                           \
  X(hipErrorOutOfMemory, 2, "out of memory")                                               \
  X(hipErrorNotInitialized, 3, "initialization error")                                     \
  X(hipErrorDeinitialized, 4, "driver shutting down")                                      \
  X(hipErrorInvalidConfiguration, 9, "invalid configuration argument")                     \
  X(hipErrorInvalidPitchValue, 12, "invalid pitch argument")                               \
  X(hipErrorInvalidDevicePointer, 17, "invalid device pointer")                            \
  X(hipErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")               \
  X(hipErrorInsufficientDriver, 35, "driver version is insufficient for runtime version")  \
  X(hipErrorInvalidDeviceFunction, 98, "invalid device function")                          \
  X(hipErrorNoDevice, 100, "no device is detected")                                        \
  X(hipErrorInvalidDevice, 101, "invalid device ordinal")                                  \
  X(hipErrorInvalidContext, 201, "invalid device context")                                 \
  X(hipErrorPeerAccessUnsupported, 217, "the devices are not connected")                   \
  X(hipErrorInvalidHandle, 400, "invalid resource handle")                                 \
  X(hipErrorIllegalState, 401, "the operation cannot be performed in the present state")   \
  X(hipErrorNotReady, 600, "device not ready")                                             \
  X(hipErrorIllegalAddress, 700, "an illegal memory access was encountered")               \
  X(hipErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")               \
  X(hipErrorPeerAccessNotEnabled, 705, "peer access is not enabled")                       \
  X(hipErrorContextIsDestroyed, 709, "context is destroyed")                               \
  X(hipErrorHostMemoryAlreadyRegistered, 712, "memory is already registered")              \
  X(hipErrorHostMemoryNotRegistered, 713, "memory is not registered")                      \
  X(hipErrorLaunchFailure, 719, "unspecified launch failure")                              \
  X(hipErrorNotPermitted, 800, "operation not permitted")                                  \
  X(hipErrorNotSupported, 801, "operation not supported")                                  \
  X(hipErrorStreamCaptureUnsupported, 900, "operation not permitted on a captured stream") \
  X(hipErrorStreamCaptureInvalidated, 901, "an earlier error has invalidated the capture") \
  X(hipErrorStreamCaptureMerge, 902, "operation would merge two captures")                 \
  X(hipErrorStreamCaptureUnmatched, 903, "the capture did not begin with this stream")     \
  X(hipErrorStreamCaptureUnjoined, 904, "a captured stream was not joined to the first")   \
  X(hipErrorStreamCaptureIsolation, 905, "dependency on work outside of the capture")      \
  X(hipErrorStreamCaptureImplicit, 906, "dependency on the legacy default stream")         \
  X(hipErrorCapturedEvent, 907, "operation not permitted on a captured event")             \
  X(hipErrorStreamCaptureWrongThread, 908, "the capture did not begin in this thread")     \
  X(hipErrorGraphExecUpdateFailure, 910, "the graph cannot be updated to the other one")   \
  X(hipErrorUnknown, 999, "unknown error")

// The fake HIP runtime is the same implementation with the real runtime's enumeration.
#if !defined(ROCARRAY_FAKE_RUNTIME)

namespace roc::host_hip {

enum hipError_t : int {
#define ROCARRAY_HOST_HIP_ERROR(name, number, text) name = number,
  ROCARRAY_HOST_HIP_ERRORS(ROCARRAY_HOST_HIP_ERROR)
#undef ROCARRAY_HOST_HIP_ERROR
};

}  // namespace roc::host_hip

#endif
