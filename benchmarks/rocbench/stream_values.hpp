// SPDX-License-Identifier: MIT
// What the arrays of the cases stream/... hold, on the host and in kernels alike: every value that
// a kernel has to write can be computed exactly, so that no tolerance hides a wrong bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

namespace rocbench {

/// BabelStream's kernels, of arrays a, b, c and a number s: c = a, b = s c, c = a + b,
/// a = b + s c, the sum of a b.
enum class stream_kernel : unsigned char { copy, mul, add, triad, dot };

/// The number s. A power of two: a product with it is exact, and a fused multiply-add, which
/// compilers may or may not make of triad, gives the same bits. No kernel is faster for it.
inline constexpr double stream_factor = 0.5;

/// The arrays that a kernel reads.
constexpr unsigned arrays_read(stream_kernel what) {
  return what == stream_kernel::copy || what == stream_kernel::mul ? 1 : 2;
}

/// A number in [1, 2) that differs from that of any other index below 2^52, and from that of the
/// same index in the other array and in other samples.
ROCARRAY_HOST_DEVICE inline double stream_number(std::size_t index, unsigned array,
                                            std::uint64_t sample) {
  std::uint64_t const word =
      index * std::uint64_t{0x9E3779B97F4A7C15} + (2 * sample + array) * 0xBF58476D1CE4E5B9;
  return 1.0 + static_cast<double>(word >> 12) * 0x1p-52;
}

/// A whole number below 512, to which whole_offset is added: the products of dot are whole numbers
/// below 2^20, and the sum of 2^33 of them is exact, in whatever order it is taken.
ROCARRAY_HOST_DEVICE inline std::uint64_t whole_number(std::size_t index, unsigned array) {
  std::uint64_t const word = index * std::uint64_t{0x9E3779B97F4A7C15};
  return array == 0 ? word >> 55 : word >> 46 & 511;
}
/// Another one for every sample, below 512.
ROCARRAY_HOST_DEVICE inline std::uint64_t whole_offset(unsigned array, std::uint64_t sample) {
  return array == 0 ? sample % 512 : (sample * 37 + 5) % 512;
}

/// What stands at an index of an array that the kernel reads.
ROCARRAY_HOST_DEVICE inline double stream_source(stream_kernel what, std::size_t index, unsigned array,
                                            std::uint64_t sample) {
  if (what != stream_kernel::dot) return stream_number(index, array, sample);
  return static_cast<double>(whole_number(index, array) + whole_offset(array, sample));
}

/// What the kernel has to write at an index; not for dot.
ROCARRAY_HOST_DEVICE inline double stream_result(stream_kernel what, std::size_t index,
                                            std::uint64_t sample) {
  double const first = stream_number(index, 0, sample);
  switch (what) {
    case stream_kernel::copy: return first;
    case stream_kernel::mul: return stream_factor * first;
    case stream_kernel::add: return first + stream_number(index, 1, sample);
    default: return first + stream_factor * stream_number(index, 1, sample);
  }
}

}  // namespace rocbench
