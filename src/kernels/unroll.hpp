// SPDX-License-Identifier: MIT
// ROCARRAY_UNROLL unrolls the loop that follows it on device compilers, so that the accesses of all
// its iterations are in flight at once.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_UNROLL _Pragma("unroll")
#else
#define ROCARRAY_UNROLL
#endif
