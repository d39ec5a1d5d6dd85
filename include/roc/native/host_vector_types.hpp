// SPDX-License-Identifier: MIT
// The vector types of CUDA and HIP, of 1 to 4 numbers, and the functions that make them: float4,
// make_float4 and so on. For kernels on the host platform; HIP's own headers have them too.
#pragma once

#define ROCARRAY_VECTOR_TYPES(T, name, pair_alignment, quad_alignment)  \
  struct name##1 { T x; };                                              \
  struct alignas(pair_alignment) name##2 { T x, y; };                   \
  struct name##3 { T x, y, z; };                                        \
  struct alignas(quad_alignment) name##4 { T x, y, z, w; };             \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define ROCARRAY_SMALL_VECTOR_TYPES(T, name) \
  ROCARRAY_VECTOR_TYPES(T, name, 2 * sizeof(T), 4 * sizeof(T))
#define ROCARRAY_LARGE_VECTOR_TYPES(T, name) ROCARRAY_VECTOR_TYPES(T, name, 2 * sizeof(T), 16)

ROCARRAY_SMALL_VECTOR_TYPES(signed char, char)
ROCARRAY_SMALL_VECTOR_TYPES(unsigned char, uchar)
ROCARRAY_SMALL_VECTOR_TYPES(short, short)
ROCARRAY_SMALL_VECTOR_TYPES(unsigned short, ushort)
ROCARRAY_SMALL_VECTOR_TYPES(int, int)
ROCARRAY_SMALL_VECTOR_TYPES(unsigned, uint)
ROCARRAY_SMALL_VECTOR_TYPES(float, float)
ROCARRAY_LARGE_VECTOR_TYPES(long, long)
ROCARRAY_LARGE_VECTOR_TYPES(unsigned long, ulong)
ROCARRAY_LARGE_VECTOR_TYPES(long long, longlong)
ROCARRAY_LARGE_VECTOR_TYPES(unsigned long long, ulonglong)
ROCARRAY_LARGE_VECTOR_TYPES(double, double)

#undef ROCARRAY_LARGE_VECTOR_TYPES
#undef ROCARRAY_SMALL_VECTOR_TYPES
#undef ROCARRAY_VECTOR_TYPES
