// SPDX-License-Identifier: MIT
// Whose types the provider is built with: its own, in namespace roc::host_hip, or those of an
// installed HIP whose library it stands in for (ROCARRAY_FAKE_RUNTIME).
//
// A file defines its calls between ROCARRAY_HOST_API_BEGIN and ROCARRAY_HOST_API_END, each marked
// ROCARRAY_HOST_API. What lies below them is in namespace roc::host_hip either way.
#pragma once

#if defined(ROCARRAY_FAKE_RUNTIME)

#include <hip/hip_runtime_api.h>
// HIP's header makes it empty for host compilers, whose own headers name it as an attribute.
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

/// What CUDA answers to a call of its runtime from a host function; old HIP has no name for it.
inline constexpr hipError_t not_permitted = static_cast<hipError_t>(800);

}  // namespace roc::host_hip
