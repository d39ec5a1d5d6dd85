// SPDX-License-Identifier: MIT
// The amd platform: ROCm's own headers, and the one call that an old runtime lacks.
#pragma once

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif

#include <hip/hip_version.h>

// HIP before 5.3 declares hipLaunchHostFunc but its runtime does not export it: the declaration is
// moved out of the way, and an equivalent takes the name. (Where HIP's header came first it keeps
// its declaration, and the program that calls it does not link: include this header before HIP's.)
#if HIP_VERSION < 50300000 && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_API_H)
#define ROCARRAY_NATIVE_LAUNCH_HOST_FUNC
#pragma push_macro("hipLaunchHostFunc")
#define hipLaunchHostFunc hipLaunchHostFunc_not_exported
#endif

#ifdef __HIP__
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
// HIP's header defines this as a macro, also for host compilers, whose own headers use the word.
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

inline void run_host_function(hipStream_t, hipError_t, void* argument) {
  auto* const pending = static_cast<host_function*>(argument);
  host_function const call = *pending;
  delete pending;
  call.function(call.data);
}

}  // namespace roc::native_detail

/// Runs `function(data)` on a thread of the runtime when the work enqueued before on `stream` is
/// done; later work on `stream` waits for it. `function` must not call HIP.
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
