// SPDX-License-Identifier: MIT
// rocbench's kernels: images, copies of 16 bytes per thread, BabelStream's, and those of for_each.
// Each launch function enqueues a kernel and returns the result of the launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/device_view.hpp>
#include <roc/stream.hpp>

#include "image.hpp"
#include "kernels/vector_word.hpp"
#include "platform/hip.hpp"

namespace rocbench {

// ---- The contents of the arrays of stream/*: every expected value is exact ----

/// BabelStream's kernels on arrays a, b, c and a scalar s: c = a; b = s c; c = a + b; a = b + s c;
/// sum of a b.
enum class stream_kernel : unsigned char { copy, mul, add, triad, dot };

/// The scalar s. It is a power of two: products with it are exact, so triad has the same result
/// with and without a fused multiply-add. No kernel is faster for it.
inline constexpr double stream_scalar = 0.5;

/// Returns the number of arrays that the kernel reads.
constexpr unsigned arrays_read(stream_kernel kernel) {
  return kernel == stream_kernel::copy || kernel == stream_kernel::mul ? 1 : 2;
}

/// Returns a number in [1, 2) that differs from the number of every other index below 2^52, and
/// from that of the same index in the other array and in other samples.
ROCARRAY_HOST_DEVICE inline double stream_value(std::size_t index, unsigned array,
                                                std::uint64_t sample) {
  std::uint64_t const word =
      index * std::uint64_t{0x9E3779B97F4A7C15} + (2 * sample + array) * 0xBF58476D1CE4E5B9;
  return 1.0 + static_cast<double>(word >> 12) * 0x1p-52;
}

/// Returns an integer below 512. With dot_offset added, an input of dot is below 2^10 and a
/// product below 2^20, so that a sum of 2^33 products is exact in any order of summation.
ROCARRAY_HOST_DEVICE inline std::uint64_t dot_integer(std::size_t index, unsigned array) {
  std::uint64_t const word = index * std::uint64_t{0x9E3779B97F4A7C15};
  return array == 0 ? word >> 55 : word >> 46 & 511;
}
/// Returns the integer below 512 that a sample adds to every input of dot; consecutive samples
/// have different offsets.
ROCARRAY_HOST_DEVICE inline std::uint64_t dot_offset(unsigned array, std::uint64_t sample) {
  return array == 0 ? sample % 512 : (sample * 37 + 5) % 512;
}

/// Returns the element of an input array of the kernel.
ROCARRAY_HOST_DEVICE inline double stream_input(stream_kernel kernel, std::size_t index,
                                                unsigned array, std::uint64_t sample) {
  if (kernel != stream_kernel::dot) return stream_value(index, array, sample);
  return static_cast<double>(dot_integer(index, array) + dot_offset(array, sample));
}

/// Returns the element that the kernel must write. Precondition: the kernel is not dot.
ROCARRAY_HOST_DEVICE inline double expected_stream_result(stream_kernel kernel, std::size_t index,
                                                          std::uint64_t sample) {
  double const first = stream_value(index, 0, sample);
  switch (kernel) {
    case stream_kernel::copy: return first;
    case stream_kernel::mul: return stream_scalar * first;
    case stream_kernel::add: return first + stream_value(index, 1, sample);
    default: return first + stream_scalar * stream_value(index, 1, sample);
  }
}

// ---- The contents of the arrays of for_each/* ----

/// Returns an integer from -2^22 to -1, so that the sum of two is exact and differs from every
/// poison, which has no sign. The integers of a sample repeat only after millions of indices.
ROCARRAY_HOST_DEVICE inline float addend(std::size_t index, unsigned array, std::uint64_t sample) {
  std::uint64_t const word =
      index * std::uint64_t{0x9E3779B97F4A7C15} + (2 * sample + array) * 0xBF58476D1CE4E5B9;
  return -1.0f - static_cast<float>(word >> 42);
}

/// Returns the sum that a kernel of for_each/* must write.
ROCARRAY_HOST_DEVICE inline float expected_sum(std::size_t index, std::uint64_t sample) {
  return addend(index, 0, sample) + addend(index, 1, sample);
}

/// Returns what a kernel of for_each/stencil writes: half of an element and an eighth of each of
/// its four neighbors. The weights are powers of two and the sum of four addends is exact, so only
/// the last addition rounds: the result is the same with and without a fused multiply-add.
ROCARRAY_HOST_DEVICE inline float stencil_value(float center, float north, float south, float west,
                                                float east) {
  return 0.5f * center + 0.125f * (north + south + west + east);
}

/// Returns the element that a kernel of for_each/stencil must write.
/// @param index of the element in C order; not of an element at the border
/// @param columns of the matrix
ROCARRAY_HOST_DEVICE inline float expected_stencil(std::size_t index, std::size_t columns,
                                                   std::uint64_t sample) {
  return stencil_value(addend(index, 0, sample), addend(index - columns, 0, sample),
                       addend(index + columns, 0, sample), addend(index - 1, 0, sample),
                       addend(index + 1, 0, sample));
}

// ---- Launches ----

/// The result that comparing kernels write to device memory. The host sets all bits before a
/// comparison. If the kernel did not run, `compared` keeps them.
struct device_comparison {
  unsigned long long first_mismatch;  ///< smallest index with a wrong value; all ones: none
  unsigned long long compared;        ///< number of bytes or elements compared
};

/// Writes a whole image. Precondition: `destination` is aligned to 8 bytes.
hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream);
/// Compares memory with a whole image. `comparison` is device memory and counts bytes.
/// Precondition: `memory` is aligned to 8 bytes.
hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream);

/// Copies host memory that kernels can access, with views or with plain pointers.
hipError_t launch_copy(roc::device_view<roc::kernels::vector_word const> source,
                       roc::device_view<roc::kernels::vector_word> destination, bool by_pointer,
                       hipStream_t stream);

/// The contiguous arrays of a stream kernel, all of the same length. Only add, triad and dot read
/// `second`. For dot, `result` has one element and `partial_sums` one element per block.
struct stream_arrays {
  roc::device_view<double const> first;
  roc::device_view<double const> second;
  roc::device_view<double> result;
  roc::device_view<double> partial_sums;
};

/// Runs the kernel instantiated for views, or for plain pointers; both are compiled from the same
/// template. Threads and blocks are shaped as in BabelStream: one element per thread, 1024 threads
/// per block. dot sums per block and then over blocks, each in a fixed order.
hipError_t launch_stream(stream_kernel kernel, stream_arrays const& arrays, bool by_pointer,
                         hipStream_t stream);

/// Writes stream_input() to `output`.
hipError_t launch_stream_input(stream_kernel kernel, double* output, std::size_t count,
                               unsigned array, std::uint64_t sample, hipStream_t stream);
/// Compares `result` with expected_stream_result(), bit for bit. `comparison` is device memory and
/// counts elements.
hipError_t launch_stream_check(stream_kernel kernel, double const* result, std::size_t count,
                               std::uint64_t sample, device_comparison* comparison,
                               hipStream_t stream);

/// The contiguous arrays of c = a + b, of the same length.
struct sum_arrays {
  roc::device_view<float const> a;
  roc::device_view<float const> b;
  roc::device_view<float> c;
};

/// Adds by roc::for_each over `extents`, with views of this rank. Throws roc::error.
template <std::size_t N>
void for_each_sum(sum_arrays const& arrays, roc::shape<N> const& extents, roc::stream_ref stream);
extern template void for_each_sum(sum_arrays const&, roc::shape<1> const&, roc::stream_ref);
extern template void for_each_sum(sum_arrays const&, roc::shape<2> const&, roc::stream_ref);
extern template void for_each_sum(sum_arrays const&, roc::shape<3> const&, roc::stream_ref);
extern template void for_each_sum(sum_arrays const&, roc::shape<4> const&, roc::stream_ref);

/// Adds by a kernel as it is written by hand: pointers, a block of threads over columns, rows and
/// planes, and no division.
/// @param extents planes, rows and columns: the axes before the last two are one
hipError_t launch_sum(sum_arrays const& arrays, roc::shape<3> const& extents, hipStream_t stream);

/// The matrices of a stencil, in C order and of the same shape, which has at least 3 rows and
/// columns. The elements at the border of `destination` are not written.
struct stencil_arrays {
  roc::device_view<float const, 2> source;
  roc::device_view<float, 2> destination;
};

/// Applies stencil_value() to the interior by roc::for_each, in blocks of 8 rows of 32 columns or
/// in its default blocks. Throws roc::error.
void for_each_stencil(stencil_arrays const& arrays, bool has_block_shape, roc::stream_ref stream);

/// Applies stencil_value() to the interior by a kernel as it is written by hand, with pointers, in
/// blocks of 8 rows of 32 columns.
hipError_t launch_stencil(stencil_arrays const& arrays, hipStream_t stream);

/// Writes addend() to `output`.
hipError_t launch_addends(float* output, std::size_t count, unsigned array, std::uint64_t sample,
                          hipStream_t stream);
/// Compares `sums` with expected_sum(). `comparison` is device memory and counts elements.
hipError_t launch_sum_check(float const* sums, std::size_t count, std::uint64_t sample,
                            device_comparison* comparison, hipStream_t stream);
/// Compares the interior of a matrix with expected_stencil(), and the elements at its border with
/// the poison of the sample, bit for bit. `comparison` is device memory and counts elements.
hipError_t launch_stencil_check(float const* matrix, roc::shape<2> const& extents,
                                std::uint64_t sample, device_comparison* comparison,
                                hipStream_t stream);

}  // namespace rocbench
