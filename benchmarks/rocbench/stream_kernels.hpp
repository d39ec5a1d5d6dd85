// SPDX-License-Identifier: MIT
// BabelStream's kernels. Threads and blocks are shaped as in BabelStream: one element per thread,
// 1024 threads per block.
#pragma once

#include <roc/device_view.hpp>

#include "platform/hip.hpp"
#include "stream_values.hpp"

namespace rocbench {

/// The contiguous arrays of a kernel, all of the same length. Only add, triad and dot read
/// `second`. For dot, `result` has one element and `partial_sums` one element per block.
struct stream_arrays {
  roc::device_view<double const> first;
  roc::device_view<double const> second;
  roc::device_view<double> result;
  roc::device_view<double> partial_sums;
};

/// Enqueues the kernel instantiated for views, or for plain pointers; both are compiled from the
/// same template. dot sums per block and then over blocks, each in a fixed order. Returns the
/// result of the launch.
hipError_t launch_stream_with_views(stream_kernel kernel, stream_arrays const& arrays,
                                    hipStream_t stream);
hipError_t launch_stream_with_pointers(stream_kernel kernel, stream_arrays const& arrays,
                                       hipStream_t stream);

}  // namespace rocbench
