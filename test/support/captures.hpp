// SPDX-License-Identifier: MIT
// What the capture of a stream supports in this build.
#pragma once

#include <roc/native.hpp>

// HIP before 5.3 cannot capture host functions, which packed copies need. Tests that need them are
// not built then.
#if ROCARRAY_PLATFORM_AMD && HIP_VERSION < 50300000
#define ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS 0
#else
#define ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS 1
#endif

namespace roc::test {

inline constexpr bool captures_host_functions = ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS != 0;

}  // namespace roc::test
