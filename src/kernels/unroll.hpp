// SPDX-License-Identifier: MIT
// Loops whose accesses are to be on their way at once: device compilers are told to unroll them.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_UNROLL _Pragma("unroll")
#else
#define ROCARRAY_UNROLL
#endif
