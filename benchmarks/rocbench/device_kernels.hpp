// SPDX-License-Identifier: MIT
// Where rocbench's C++ files end and its kernels begin. Each call enqueues and returns what the
// launch gave; the thread and block shapes are BabelStream's: an element each, 1024 to a block.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/device_view.hpp>

#include "image.hpp"
#include "kernels/vector_word.hpp"
#include "platform/hip.hpp"
#include "stream_values.hpp"

namespace rocbench {

/// Of one length, without gaps: `second` is read by add, triad and dot alone. Of dot, `result` has
/// one element, and `parts` one for each block that takes part.
struct stream_arrays {
  roc::device_view<double const> first;
  roc::device_view<double const> second;
  roc::device_view<double> result;
  roc::device_view<double> parts;
};

/// Runs the kernel with the views, or with nothing but pointers: both are compiled from one source.
/// dot is a sum per block and a sum of these, each in a fixed order.
hipError_t launch_stream_by_views(stream_kernel what, stream_arrays const& on, hipStream_t stream);
hipError_t launch_stream_by_pointers(stream_kernel what, stream_arrays const& on,
                                     hipStream_t stream);

/// Writes what stream_source says to an array.
hipError_t launch_stream_source(stream_kernel what, double* to, std::size_t count, unsigned array,
                                std::uint64_t sample, hipStream_t stream);

/// What a comparison found, in device memory.
struct check_verdict {
  unsigned long long first_wrong;  ///< the least index with a wrong value; set to all ones before
  unsigned long long compared;     ///< how many elements there were, written when they are compared
};

/// Writes a whole image to memory of 8 bytes' alignment.
hipError_t launch_image_write(std::byte* to, image const& of, hipStream_t stream);

/// Compares memory of 8 bytes' alignment with a whole image; counts in bytes.
hipError_t launch_image_check(std::byte const* found, image const& of, check_verdict* verdict,
                              hipStream_t stream);

/// Compares an array with what stream_result says, bit for bit.
hipError_t launch_stream_check(stream_kernel what, double const* found, std::size_t count,
                               std::uint64_t sample, check_verdict* verdict, hipStream_t stream);

/// Copies 16 bytes a thread, by views or by pointers.
hipError_t launch_copy_by_views(roc::device_view<roc::kernels::unit16 const> from,
                                roc::device_view<roc::kernels::unit16> to, hipStream_t stream);
hipError_t launch_copy_by_pointers(roc::kernels::unit16 const* from, roc::kernels::unit16* to,
                                   std::size_t count, hipStream_t stream);

/// Throws not_possible where the device has no code of rocbench's kernels, roc::error for any
/// other launch that failed.
void check_kernel(hipError_t launched);

}  // namespace rocbench
