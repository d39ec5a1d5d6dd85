// SPDX-License-Identifier: MIT
// The language of kernels for a C++ compiler: the words, variables and functions that hipcc and
// nvcc know. For files with kernels on the host platform, and for host stubs of the fake HIP
// runtime.
//
// A warp has ROCARRAY_HOST_WARP lanes. Threads of a warp do not run in lockstep: a warp's functions
// wait for its lanes. Those with a mask wait for all lanes of the mask, wherever these call the
// same function. Those without a mask return the values of the lanes that call them at the same
// line and column, as a device does for the lanes of one branch.
#pragma once

#include <math.h>  // isnan and others without std::

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <source_location>
#include <type_traits>

#include <roc/native/host_atomics.hpp>
#include <roc/native/host_block.hpp>
#if ROCARRAY_PLATFORM_HOST
#include <roc/native/host_vector_types.hpp>
#endif

// HIP's headers define some of these words for host compilers, partly with other meanings.
#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __shared__
#undef __forceinline__
#undef __launch_bounds__
#undef HIP_DYNAMIC_SHARED
#define __global__
#define __device__
#define __host__
#define __constant__
/// A variable of a function, which the threads of a block share: they all run in one thread of the
/// system. (`extern __shared__` has no definition here: see roc::dynamic_shared.)
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define HIP_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::roc::host_kernels::current_block().shared_memory)

// All below is hidden, because several shared objects with kernels may be loaded: the code that
// runs a kernel sets the variables of its object. An inline variable or function of default
// visibility would be that of another object.
#pragma GCC visibility push(hidden)

inline constinit thread_local roc::host_kernels::kernel_index threadIdx;
inline constinit thread_local roc::host_kernels::kernel_index blockIdx;
inline constinit thread_local roc::host_kernels::kernel_index blockDim;
inline constinit thread_local roc::host_kernels::kernel_index gridDim;
/// 0 until a kernel has run in the thread of the system: see roc::warp_size.
inline constinit thread_local int warpSize = 0;

namespace roc::host_kernels {

/// Returns the addresses of the built-in variables of this shared object.
inline kernel_variables variables_of_object() {
  return {&threadIdx, &blockIdx, &blockDim, &gridDim, &warpSize, &block_of_thread};
}

/// Returns the block of the kernel that calls. Ends the process if no kernel runs.
inline running_block& current_block(std::source_location at = std::source_location::current()) {
  if (block_of_thread == nullptr) {
    std::fprintf(stderr,
                 "rocarray host: a function for kernels is called at %s:%u, but no kernel of "
                 "roc::launch runs there\n",
                 at.file_name(), at.line());
    std::abort();
  }
  return *block_of_thread;
}

/// Returns the `value` that lane `source(own lane)` passed, or zeros if that lane does not take
/// part.
template <class T, class F>
T read_lane(T const& value, warp_call const& call, F source) {
  static_assert(std::is_trivially_copyable_v<T>, "a shuffle copies values byte by byte");
  running_block& block = current_block(call.at);
  unsigned const from = source(block.lane);
  bool is_active = true;
  T result{};
  for (std::size_t i = 0; i < sizeof(T); i += sizeof(std::uint64_t)) {
    std::size_t const bytes = sizeof(T) - i < 8 ? sizeof(T) - i : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<std::byte const*>(&value) + i, bytes);
    lane_values const warp = block.exchange(word, call);
    is_active = from < 64 && (warp.lanes >> from & 1) != 0;
    if (is_active) {
      std::memcpy(reinterpret_cast<std::byte*>(&result) + i, &warp.values[from], bytes);
    }
  }
  if (!is_active) block.report_inactive_lane(from, call.at);
  return result;
}

/// Returns the width of the groups of a shuffle. Ends the process unless it is a power of two and
/// at most the warp's.
inline unsigned checked_width(int width, std::source_location at) {
  auto const result = static_cast<unsigned>(width);
  if (!std::has_single_bit(result) || width > warpSize) {
    char text[128];
    std::snprintf(
        text, sizeof text,
        "the width %d of a shuffle is not possible; use a power of two up to warpSize, %d", width,
        warpSize);
    current_block(at).fail(text, at);
  }
  return result;
}

/// Returns a bit for each lane that takes part and whose predicate is true.
inline unsigned long long vote(bool predicate, warp_call const& call) {
  lane_values const warp = current_block(call.at).exchange(predicate ? 1 : 0, call);
  unsigned long long result = 0;
  for (unsigned lane = 0; lane < 64; ++lane) {
    if ((warp.lanes >> lane & 1) != 0 && warp.values[lane] != 0) result |= 1ULL << lane;
  }
  return result;
}

/// Returns the lanes that take part.
inline unsigned long long wait_for_lanes(warp_call const& call) {
  return current_block(call.at).exchange(0, call).lanes;
}

using warp_mask = std::optional<std::uint64_t>;

template <class T>
T shuffle(T const& value, int source, int width, warp_mask mask, std::source_location at) {
  unsigned const size = checked_width(width, at);
  return read_lane(value, {warp_function::shuffle, mask, at}, [=](unsigned lane) {
    return (lane & ~(size - 1)) | (static_cast<unsigned>(source) & (size - 1));
  });
}

template <class T>
T shuffle_up(T const& value, unsigned delta, int width, warp_mask mask, std::source_location at) {
  unsigned const size = checked_width(width, at);
  return read_lane(value, {warp_function::shuffle_up, mask, at}, [=](unsigned lane) {
    return (lane & (size - 1)) < delta ? lane : lane - delta;
  });
}

template <class T>
T shuffle_down(T const& value, unsigned delta, int width, warp_mask mask, std::source_location at) {
  unsigned const size = checked_width(width, at);
  return read_lane(value, {warp_function::shuffle_down, mask, at}, [=](unsigned lane) {
    return delta >= size - (lane & (size - 1)) ? lane : lane + delta;
  });
}

template <class T>
T shuffle_xor(T const& value, int lane_mask, int width, warp_mask mask, std::source_location at) {
  unsigned const size = checked_width(width, at);
  return read_lane(value, {warp_function::shuffle_xor, mask, at}, [=](unsigned lane) {
    unsigned const from = lane ^ static_cast<unsigned>(lane_mask);
    return from >= (lane & ~(size - 1)) + size ? lane : from;
  });
}

}  // namespace roc::host_kernels

// The functions of HIP and CUDA, with their names. `at` is for messages and for the grouping of
// lanes; callers leave it out. roc/kernel.hpp undefines the macro.
#define ROCARRAY_PLACE std::source_location at = std::source_location::current()

// Barriers and fences.
inline void __syncthreads(ROCARRAY_PLACE) {
  roc::host_kernels::current_block(at).synchronize(roc::host_kernels::block_reduction::none, 0, at);
}
inline int __syncthreads_count(int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::current_block(at).synchronize(roc::host_kernels::block_reduction::count,
                                                          predicate, at);
}
inline int __syncthreads_and(int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::current_block(at).synchronize(roc::host_kernels::block_reduction::all,
                                                          predicate, at);
}
inline int __syncthreads_or(int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::current_block(at).synchronize(roc::host_kernels::block_reduction::any,
                                                          predicate, at);
}
inline void __syncwarp(unsigned long long mask = ~0ULL, ROCARRAY_PLACE) {
  static_cast<void>(
      roc::host_kernels::wait_for_lanes({roc::host_kernels::warp_function::synchronize, mask, at}));
}
inline void __threadfence_block() { roc::host_kernels::fence(); }
inline void __threadfence() { roc::host_kernels::fence(); }
inline void __threadfence_system() { roc::host_kernels::fence(); }

// Warps: HIP's functions.
inline unsigned __lane_id(ROCARRAY_PLACE) { return roc::host_kernels::current_block(at).lane; }
template <class T>
T __shfl(T value, int source, int width = warpSize, ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle(value, source, width, std::nullopt, at);
}
template <class T>
T __shfl_up(T value, unsigned delta, int width = warpSize, ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle_up(value, delta, width, std::nullopt, at);
}
template <class T>
T __shfl_down(T value, unsigned delta, int width = warpSize, ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle_down(value, delta, width, std::nullopt, at);
}
template <class T>
T __shfl_xor(T value, int lane_mask, int width = warpSize, ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle_xor(value, lane_mask, width, std::nullopt, at);
}
inline unsigned long long __ballot(int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::vote(predicate != 0,
                                 {roc::host_kernels::warp_function::ballot, std::nullopt, at});
}
inline unsigned long long __activemask(ROCARRAY_PLACE) {
  return roc::host_kernels::wait_for_lanes(
      {roc::host_kernels::warp_function::active_mask, std::nullopt, at});
}
inline int __any(int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::vote(predicate != 0,
                                 {roc::host_kernels::warp_function::any, std::nullopt, at}) != 0;
}
inline int __all(int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::vote(predicate == 0,
                                 {roc::host_kernels::warp_function::all, std::nullopt, at}) == 0;
}

// Warps: the functions of CUDA and of new versions of HIP.
template <class T>
T __shfl_sync(unsigned long long mask, T value, int source, int width = warpSize, ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle(value, source, width, mask, at);
}
template <class T>
T __shfl_up_sync(unsigned long long mask, T value, unsigned delta, int width = warpSize,
                 ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle_up(value, delta, width, mask, at);
}
template <class T>
T __shfl_down_sync(unsigned long long mask, T value, unsigned delta, int width = warpSize,
                   ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle_down(value, delta, width, mask, at);
}
template <class T>
T __shfl_xor_sync(unsigned long long mask, T value, int lane_mask, int width = warpSize,
                  ROCARRAY_PLACE) {
  return roc::host_kernels::shuffle_xor(value, lane_mask, width, mask, at);
}
inline unsigned long long __ballot_sync(unsigned long long mask, int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::vote(predicate != 0,
                                 {roc::host_kernels::warp_function::ballot, mask, at});
}
inline int __any_sync(unsigned long long mask, int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::vote(predicate != 0,
                                 {roc::host_kernels::warp_function::any, mask, at}) != 0;
}
inline int __all_sync(unsigned long long mask, int predicate, ROCARRAY_PLACE) {
  return roc::host_kernels::vote(predicate == 0,
                                 {roc::host_kernels::warp_function::all, mask, at}) == 0;
}

// Arithmetic.
inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) {
  return value == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned>(value));
}
inline int __ffsll(long long value) {
  return value == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned long long>(value));
}
/// Returns four of the eight bytes of `low` and `high`, which the digits of `selector` number.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  std::uint64_t const bytes = std::uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    auto const byte = static_cast<unsigned>(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff);
    result |= byte << (8 * i);
  }
  return result;
}
/// Return the bits in reverse order.
inline unsigned __brev(unsigned value) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= (value >> i & 1) << (31 - i);
  return result;
}
inline unsigned long long __brevll(unsigned long long value) {
  return std::uint64_t{__brev(static_cast<unsigned>(value))} << 32 |
         __brev(static_cast<unsigned>(value >> 32));
}
/// Return the same bits as another type.
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __int_as_float(int value) { return std::bit_cast<float>(value); }
inline float __uint_as_float(unsigned value) { return std::bit_cast<float>(value); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long value) { return std::bit_cast<double>(value); }
/// Divides; the result is exact, which on a device it is not.
inline float __fdividef(float a, float b) { return a / b; }
template <class T>
T __ldg(T const* address) {
  return *address;
}
// Templates, because new C libraries (C23) declare functions of these names.
template <class T>
  requires std::is_arithmetic_v<T>
float rsqrtf(T value) {
  return 1.0f / std::sqrt(static_cast<float>(value));
}
template <std::floating_point T>
T rsqrt(T value) {
  return T(1) / std::sqrt(value);
}
template <std::integral T>
double rsqrt(T value) {
  return 1.0 / std::sqrt(static_cast<double>(value));
}

// min and max, for the types for which HIP and CUDA have them.
#define ROCARRAY_MIN_MAX(R, A, B)                                                         \
  constexpr R min(A a, B b) {                                                             \
    return static_cast<R>(b) < static_cast<R>(a) ? static_cast<R>(b) : static_cast<R>(a); \
  }                                                                                       \
  constexpr R max(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); \
  }
#define ROCARRAY_MIN_MAX_OF_INTEGERS(S, U) \
  ROCARRAY_MIN_MAX(S, S, S)                \
  ROCARRAY_MIN_MAX(U, U, U)                \
  ROCARRAY_MIN_MAX(U, S, U)                \
  ROCARRAY_MIN_MAX(U, U, S)
ROCARRAY_MIN_MAX_OF_INTEGERS(int, unsigned)
ROCARRAY_MIN_MAX_OF_INTEGERS(long, unsigned long)
ROCARRAY_MIN_MAX_OF_INTEGERS(long long, unsigned long long)
#undef ROCARRAY_MIN_MAX_OF_INTEGERS
#undef ROCARRAY_MIN_MAX
#define ROCARRAY_MIN_MAX(R, A, B)                                                    \
  inline R min(A a, B b) { return std::fmin(static_cast<R>(a), static_cast<R>(b)); } \
  inline R max(A a, B b) { return std::fmax(static_cast<R>(a), static_cast<R>(b)); }
ROCARRAY_MIN_MAX(float, float, float)
ROCARRAY_MIN_MAX(double, double, double)
ROCARRAY_MIN_MAX(double, float, double)
ROCARRAY_MIN_MAX(double, double, float)
#undef ROCARRAY_MIN_MAX

#pragma GCC visibility pop
