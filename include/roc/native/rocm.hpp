// SPDX-License-Identifier: MIT
// HIP on the amd platform: ROCm's own headers, and the one function that an old runtime lacks.
#pragma once

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif

#include <hip/hip_version.h>

// HIP before 5.3 declares hipLaunchHostFunc, but its runtime does not export it. A macro renames
// the declaration, and a function below replaces it. (If HIP's header was included before this one,
// the declaration stays, and a program that calls the function does not link.)
#if HIP_VERSION < 50300000 && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_API_H)
#define ROCARRAY_NATIVE_LAUNCH_HOST_FUNC
#pragma push_macro("hipLaunchHostFunc")
#define hipLaunchHostFunc hipLaunchHostFunc_not_exported
#endif

#ifdef __HIP__
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
// HIP's header defines this macro for host compilers too, whose own headers use the name.
#undef __noinline__
#endif

#ifdef ROCARRAY_NATIVE_LAUNCH_HOST_FUNC
#undef ROCARRAY_NATIVE_LAUNCH_HOST_FUNC
#pragma pop_macro("hipLaunchHostFunc")

#include <new>

namespace roc::native_detail {

struct host_function {
  hipHostFn_t function;
  void* data;
};

/// Callback of hipStreamAddCallback: calls and deletes the host_function that `argument` points to.
inline void run_host_function(hipStream_t, hipError_t, void* argument) {
  auto* const pending = static_cast<host_function*>(argument);
  host_function const call = *pending;
  delete pending;
  call.function(call.data);
}

}  // namespace roc::native_detail

/// Enqueues `function(data)`. It runs on a thread of the runtime after the work enqueued earlier on
/// `stream`; later work on `stream` waits for it. `function` must not call HIP.
inline hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  using namespace roc::native_detail;
  if (function == nullptr) return hipErrorInvalidValue;
  auto* const call = new (std::nothrow) host_function{function, data};
  if (call == nullptr) return hipErrorOutOfMemory;
  hipError_t const result = hipStreamAddCallback(stream, run_host_function, call, 0);
  if (result != hipSuccess) delete call;
  return result;
}
#endif
