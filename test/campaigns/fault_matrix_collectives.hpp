// SPDX-License-Identifier: MIT
// Includes <roc/interop/collectives.hpp>, if the tests have collective operations, so that the
// collective library of the host platform is part of the fault matrix. One source of each program
// includes this instead of that header.
#pragma once

#include <atomic>

#include <roc/native/hip.hpp>

#include "campaigns/fault_matrix.hpp"

#if ROCARRAY_TEST_COLLECTIVES
#if ROCARRAY_PLATFORM_HOST
namespace roc::test::faults {

inline std::atomic<long> kept_ranges = 0;

inline hipError_t count_kept(hipError_t result) {
  if (result == hipSuccess) ++kept_ranges;
  return result;
}

// The collective library frees an operation in a host function.
inline hipError_t count_lost(hipError_t result) {
  if (result != hipSuccess) ++lost_operations;
  return result;
}

}  // namespace roc::test::faults

// The collective library of the host platform is in the header, and calls HIP directly. Here its
// calls of HIP are counted and fail as those of the library do.
#define hipGetDevice(...) ROCARRAY_HIP_CODE(hipGetDevice, __VA_ARGS__)
#define hipHostRegister(...) \
  roc::test::faults::count_kept(ROCARRAY_HIP_CODE(hipHostRegister, __VA_ARGS__))
#define hipLaunchHostFunc(...) \
  roc::test::faults::count_lost(ROCARRAY_HIP_CODE(hipLaunchHostFunc, __VA_ARGS__))
#define hipMemcpyAsync(...) ROCARRAY_HIP_CODE(hipMemcpyAsync, __VA_ARGS__)
#define hipSetDevice(...) ROCARRAY_HIP_CODE(hipSetDevice, __VA_ARGS__)
#define hipStreamIsCapturing(...) ROCARRAY_HIP_CODE(hipStreamIsCapturing, __VA_ARGS__)
#define hipStreamQuery(...) ROCARRAY_HIP_CODE(hipStreamQuery, __VA_ARGS__)
#define hipStreamWaitValue64(...) ROCARRAY_HIP_CODE(hipStreamWaitValue64, __VA_ARGS__)
#define hipStreamWriteValue64(...) ROCARRAY_HIP_CODE(hipStreamWriteValue64, __VA_ARGS__)
#endif
#include <roc/interop/collectives.hpp>
#if ROCARRAY_PLATFORM_HOST
#undef hipGetDevice
#undef hipHostRegister
#undef hipLaunchHostFunc
#undef hipMemcpyAsync
#undef hipSetDevice
#undef hipStreamIsCapturing
#undef hipStreamQuery
#undef hipStreamWaitValue64
#undef hipStreamWriteValue64
#endif
#endif

namespace roc::test::faults {

long registrations_of_collectives() {
#if ROCARRAY_TEST_COLLECTIVES && ROCARRAY_PLATFORM_HOST
  return kept_ranges;
#else
  return 0;
#endif
}

}  // namespace roc::test::faults
