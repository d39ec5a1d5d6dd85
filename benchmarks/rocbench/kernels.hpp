// SPDX-License-Identifier: MIT
// rocbench's kernels: images, copies of 16 bytes per thread, and BabelStream's. Each launch
// function enqueues a kernel and returns the result of the launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/device_view.hpp>

#include "image.hpp"
#include "kernels/vector_word.hpp"
#include "platform/hip.hpp"
#include "stream_values.hpp"

namespace rocbench {

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

/// Copies with views, or with plain pointers, for host memory that kernels can access.
hipError_t launch_copy_with_views(roc::device_view<roc::kernels::vector_word const> source,
                                  roc::device_view<roc::kernels::vector_word> destination,
                                  hipStream_t stream);
hipError_t launch_copy_with_pointers(roc::kernels::vector_word const* source,
                                     roc::kernels::vector_word* destination, std::size_t count,
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
hipError_t launch_stream_with_views(stream_kernel kernel, stream_arrays const& arrays,
                                    hipStream_t stream);
hipError_t launch_stream_with_pointers(stream_kernel kernel, stream_arrays const& arrays,
                                       hipStream_t stream);

/// Writes stream_input() to `output`.
hipError_t launch_stream_input(stream_kernel kernel, double* output, std::size_t count,
                               unsigned array, std::uint64_t sample, hipStream_t stream);
/// Compares `result` with expected_stream_result(), bit for bit. `comparison` is device memory and
/// counts elements.
hipError_t launch_stream_check(stream_kernel kernel, double const* result, std::size_t count,
                               std::uint64_t sample, device_comparison* comparison,
                               hipStream_t stream);

}  // namespace rocbench
