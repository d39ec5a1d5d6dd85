// SPDX-License-Identifier: MIT
// What kernels of all platforms use: the language of kernels, dynamic shared memory, and the
// functions of a warp. For files with kernels only (.hip), which hipcc, nvcc or, on the host
// platform, a C++ compiler compiles.
//
// On the host platform this header defines the words, variables and functions of kernels that HIP
// and CUDA have: __global__, __shared__, threadIdx, __syncthreads, atomicAdd and others.
#pragma once

#include <source_location>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/native/hip.hpp>

#if !defined(__CUDACC__) && !defined(__HIP__)
#if !ROCARRAY_PLATFORM_HOST && !ROCARRAY_KERNEL_HOST_STUB
#error \
    "rocarray: roc/kernel.hpp and roc/launch.hpp are for files that hipcc or nvcc compiles; add the file to its target with rocarray_target_device_sources"
#endif
#include <roc/native/host_kernel_language.hpp>
#endif

namespace roc {

// On the host platform, each shared object has its own functions: see host_kernel_language.hpp.
#if !defined(__CUDACC__) && !defined(__HIP__)
#pragma GCC visibility push(hidden)
#endif

// On the host platform, functions have a last parameter `at`, the place of the call, for messages.
#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_PLACE
#define ROCARRAY_WARP_PLACE
#else
#define ROCARRAY_WARP_PLACE , ROCARRAY_PLACE
#endif

/// Returns the dynamic shared memory of the block, whose size is given at the launch, as elements
/// of type T. It is aligned to 16 bytes and uninitialized. (`extern __shared__ T name[]`, which the
/// host platform does not have.)
template <class T>
__device__ T* dynamic_shared(ROCARRAY_PLACE) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16,
                "rocarray: shared memory is not constructed, and aligned to 16 bytes");
#if defined(__CUDACC__) || defined(__HIP__)
  extern __shared__ uint4 rocarray_dynamic_shared[];
  return reinterpret_cast<T*>(rocarray_dynamic_shared);
#else
  return static_cast<T*>(host_kernels::current_block(at).shared_memory);
#endif
}

namespace detail {

/// The types that the shuffles of all platforms exchange.
template <class T>
inline constexpr bool is_shuffle_type =
    std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8) &&
    !std::is_same_v<T, long double>;

}  // namespace detail

/// @name Functions of a warp
/// For kernels of roc::launch. Every lane of the warp that has not ended must call the function at
/// the same place. A call in a branch that other lanes skip is undefined on a GPU; the host
/// platform ends the process if these lanes wait elsewhere. `width` divides the warp into groups: a
/// power of two, at most warp_size(). A warp has 32 lanes on NVIDIA and 64 or 32 on AMD; on the host
/// platform ROCARRAY_HOST_WARP sets it.
///@{

// Some versions of HIP have no functions with a mask; CUDA's need one. On the host platform, the
// mask of all lanes finds calls that a part of the lanes leaves out.
#if defined(__CUDACC__)
#define ROCARRAY_WARP_CALL(name, ...) name##_sync(0xffffffffU, __VA_ARGS__)
#elif defined(__HIP__)
#define ROCARRAY_WARP_CALL(name, ...) name(__VA_ARGS__)
#else
#define ROCARRAY_WARP_CALL(name, ...) name##_sync(~0ULL, __VA_ARGS__, at)
#endif

/// Returns the number of lanes of a warp (`warpSize`).
__device__ inline int warp_size(ROCARRAY_PLACE) {
#if !defined(__CUDACC__) && !defined(__HIP__)
  static_cast<void>(host_kernels::current_block(at));  // ends the process outside of kernels
#endif
  return warpSize;
}

/// Returns the number of the calling thread in its warp.
__device__ inline int lane_index(ROCARRAY_PLACE) {
#if defined(__CUDACC__) || defined(__HIP__)
  auto const linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  return static_cast<int>(linear) % warpSize;
#else
  return static_cast<int>(host_kernels::current_block(at).lane);
#endif
}

/// Returns `value` of the lane `source` of the group, modulo `width`: -1 is the last lane.
/// (`__shfl`, which wraps only in some versions of HIP, `__shfl_sync`)
template <class T>
__device__ T shuffle(T value, int source, int width = warpSize ROCARRAY_WARP_PLACE) {
  static_assert(detail::is_shuffle_type<T>, "rocarray: a shuffle takes numbers of 4 or 8 bytes");
#if defined(__HIP__)
  source &= width - 1;
#endif
  return ROCARRAY_WARP_CALL(__shfl, value, source, width);
}
/// Returns `value` of the lane that is `delta` before the calling one; its own if the group has
/// none. (`__shfl_up`)
template <class T>
__device__ T shuffle_up(T value, unsigned delta, int width = warpSize ROCARRAY_WARP_PLACE) {
  static_assert(detail::is_shuffle_type<T>, "rocarray: a shuffle takes numbers of 4 or 8 bytes");
  return ROCARRAY_WARP_CALL(__shfl_up, value, delta, width);
}
/// Returns `value` of the lane that is `delta` after the calling one; its own if the group has
/// none. (`__shfl_down`)
template <class T>
__device__ T shuffle_down(T value, unsigned delta, int width = warpSize ROCARRAY_WARP_PLACE) {
  static_assert(detail::is_shuffle_type<T>, "rocarray: a shuffle takes numbers of 4 or 8 bytes");
  return ROCARRAY_WARP_CALL(__shfl_down, value, delta, width);
}
/// Returns `value` of the lane whose number differs in the bits of `lane_mask`. (`__shfl_xor`)
template <class T>
__device__ T shuffle_xor(T value, int lane_mask, int width = warpSize ROCARRAY_WARP_PLACE) {
  static_assert(detail::is_shuffle_type<T>, "rocarray: a shuffle takes numbers of 4 or 8 bytes");
  return ROCARRAY_WARP_CALL(__shfl_xor, value, lane_mask, width);
}
/// Returns a bit for each lane whose predicate is true. (`__ballot`)
__device__ inline unsigned long long ballot(bool predicate ROCARRAY_WARP_PLACE) {
  return ROCARRAY_WARP_CALL(__ballot, predicate);
}
/// Returns true if the predicate of a lane is true. (`__any`)
__device__ inline bool warp_any(bool predicate ROCARRAY_WARP_PLACE) {
  return ROCARRAY_WARP_CALL(__any, predicate) != 0;
}
/// Returns true if the predicates of all lanes are true. (`__all`)
__device__ inline bool warp_all(bool predicate ROCARRAY_WARP_PLACE) {
  return ROCARRAY_WARP_CALL(__all, predicate) != 0;
}
/// Waits for all lanes of the warp, and orders their accesses to shared and device memory.
/// (`__syncwarp`, which some versions of HIP do not have)
__device__ inline void synchronize_warp(ROCARRAY_PLACE) {
#if defined(__CUDACC__)
  __syncwarp();
#elif defined(__HIP__)
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
  __syncwarp(~0ULL, at);
#endif
}
///@}

namespace detail {

#if defined(__CUDACC__) || defined(__HIP__)
#define ROCARRAY_AT
#define ROCARRAY_WARP_AT
#else
#define ROCARRAY_AT at
#define ROCARRAY_WARP_AT , at
#endif

// Class templates whose headers are also for files without kernels, such as device_queue_view, use
// this template. A file that calls their functions for kernels must include this header: the name
// tells that in the compiler's message about the incomplete type.
template <class>
struct [[gnu::visibility("hidden")]] kernel_operations_from_roc_kernel_hpp {
  /// Returns the number of the calling thread in its block.
  __device__ static unsigned thread_index() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  /// Returns the number of threads in the block.
  __device__ static unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
  /// Waits for all threads of the block, and orders their accesses to memory for each other.
  __device__ static void synchronize_block([[maybe_unused]] call_location at) {
    __syncthreads(ROCARRAY_AT);
  }
  /// Returns a variable that the threads of the block share.
  template <class V>
  __device__ static V& block_variable() {
    __shared__ V variable;
    return variable;
  }
  /// Writes the smaller one of `value` and the value at `address`, atomically.
  __device__ static void minimize(unsigned long long* address, unsigned long long value) {
    atomicMin(address, value);
  }
  /// See roc::lane_index.
  __device__ static int lane_index([[maybe_unused]] call_location at) {
    return roc::lane_index(ROCARRAY_AT);
  }
  /// See roc::ballot.
  __device__ static unsigned long long ballot(bool predicate, [[maybe_unused]] call_location at) {
    return roc::ballot(predicate ROCARRAY_WARP_AT);
  }
  /// See roc::shuffle.
  __device__ static unsigned long long shuffle(unsigned long long value, int source,
                                               [[maybe_unused]] call_location at) {
    return roc::shuffle(value, source, warpSize ROCARRAY_WARP_AT);
  }
  /// Returns the number of bits that are set.
  __device__ static unsigned count_bits(unsigned long long bits) {
    return static_cast<unsigned>(__popcll(bits));
  }
  /// Returns the number of the lowest bit that is set; -1 if none is.
  __device__ static int lowest_bit(unsigned long long bits) {
    return static_cast<int>(__ffsll(static_cast<long long>(bits))) - 1;
  }
};

#undef ROCARRAY_AT
#undef ROCARRAY_WARP_AT

}  // namespace detail

#undef ROCARRAY_WARP_CALL
#undef ROCARRAY_WARP_PLACE
#undef ROCARRAY_PLACE

#if !defined(__CUDACC__) && !defined(__HIP__)
#pragma GCC visibility pop
#endif

}  // namespace roc
