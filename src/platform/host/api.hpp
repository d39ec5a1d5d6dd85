// SPDX-License-Identifier: MIT
// HIP's types and the macros with which HIP on the CPU defines HIP's functions.
//
// HIP on the CPU is built twice. In the host platform's library it declares HIP itself, in
// namespace roc::host_hip (roc/native/host_hip.hpp). In the fake HIP runtime
// (ROCARRAY_FAKE_RUNTIME, test/fake_runtime) it uses the header of an installed HIP and exports
// HIP's C symbols.
//
// The sources in platform/host/api implement HIP's functions; they have no header of their own
// name, because HIP's header declares what they define. Each implements one group of the list in
// platform/calls.hpp. A source defines its functions between ROCARRAY_HOST_API_BEGIN and
// ROCARRAY_HOST_API_END and marks each with ROCARRAY_HOST_API. All other sources in platform/host
// have a header of their name and define no HIP function.
#pragma once

#if defined(ROCARRAY_FAKE_RUNTIME)

#include <hip/hip_runtime_api.h>
// HIP's header defines it as an empty macro for host compilers, whose own headers use it as the
// name of an attribute.
#undef __noinline__

#include <roc/native/host_hip_error.hpp>

namespace roc::host_hip {
inline constexpr unsigned char fresh_poison = 0xD5;
inline constexpr unsigned char freed_poison = 0xDD;
}  // namespace roc::host_hip

#define ROCARRAY_HOST_API extern "C" __attribute__((visibility("default")))
#define ROCARRAY_HOST_API_BEGIN using namespace roc::host_hip;
#define ROCARRAY_HOST_API_END

#else

#include <roc/native/host_hip.hpp>

#define ROCARRAY_HOST_API
#define ROCARRAY_HOST_API_BEGIN namespace roc::host_hip {
#define ROCARRAY_HOST_API_END }

#endif

namespace roc::host_hip {

#if defined(ROCARRAY_FAKE_RUNTIME)
inline constexpr bool is_fake_runtime = true;
#else
inline constexpr bool is_fake_runtime = false;
#endif

/// The code that CUDA returns for a call of its runtime in a host function. Old HIP has no name for
/// it.
inline constexpr hipError_t not_permitted = static_cast<hipError_t>(800);

/// hipErrorCapturedEvent. ROCm may return it for an event whose stream has been destroyed.
inline constexpr hipError_t captured_event = static_cast<hipError_t>(907);

/// hipErrorGraphExecUpdateFailure, for which old HIP has no name.
inline constexpr hipError_t graph_update_failure = static_cast<hipError_t>(910);

}  // namespace roc::host_hip
