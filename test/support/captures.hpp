// SPDX-License-Identifier: MIT
// What the capture of a stream supports in this build.
#pragma once

#include <roc/native.hpp>

namespace roc::test {

// HIP before 5.3 cannot capture host functions, which packed copies need.
#if ROCARRAY_PLATFORM_AMD && HIP_VERSION < 50300000
inline constexpr bool captures_host_functions = false;
#else
inline constexpr bool captures_host_functions = true;
#endif

}  // namespace roc::test
