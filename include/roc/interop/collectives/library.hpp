// SPDX-License-Identifier: MIT
// The platform's library of collective operations: RCCL, NCCL, or the host platform's own, which
// all have the same interface. Included by roc/interop/collectives.hpp.
#pragma once

#include <roc/native/hip.hpp>

#if ROCARRAY_PLATFORM_AMD
#if __has_include(<rccl/rccl.h>)
#include <rccl/rccl.h>
#elif __has_include(<rccl.h>)
#include <rccl.h>
#else
#error "rocarray: roc/interop/collectives.hpp needs RCCL (rccl/rccl.h); link rocarray::collectives"
#endif
#elif ROCARRAY_PLATFORM_NVIDIA
#if __has_include(<nccl.h>)
#include <nccl.h>
#else
#error "rocarray: roc/interop/collectives.hpp needs NCCL (nccl.h); link rocarray::collectives"
#endif
#else
#include <roc/interop/collectives/host_library.hpp>
#endif

#if defined(NCCL_VERSION_CODE) && NCCL_VERSION_CODE < 21400
#error "rocarray: roc/interop/collectives.hpp needs NCCL 2.14, or the RCCL that has its interface"
#endif

namespace roc::detail {

#if ROCARRAY_PLATFORM_HOST
using namespace roc::host_ccl;
#endif

/// The library's name for messages.
#if ROCARRAY_PLATFORM_AMD
inline constexpr char const* collective_library = "RCCL";
#elif ROCARRAY_PLATFORM_NVIDIA
inline constexpr char const* collective_library = "NCCL";
#else
inline constexpr char const* collective_library = "the host platform's collective library";
#endif

}  // namespace roc::detail
