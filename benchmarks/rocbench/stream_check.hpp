// SPDX-License-Identifier: MIT
// Kernels that write the inputs of the stream kernels and compare their results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_comparison.hpp"
#include "platform/hip.hpp"
#include "stream_values.hpp"

namespace rocbench {

/// Enqueues a kernel that writes stream_input() to `output`. Returns the result of the launch.
hipError_t launch_stream_input(stream_kernel kernel, double* output, std::size_t count,
                               unsigned array, std::uint64_t sample, hipStream_t stream);

/// Enqueues a kernel that compares `result` with expected_stream_result(), bit for bit. Returns the
/// result of the launch. `comparison` is device memory and counts elements.
hipError_t launch_stream_check(stream_kernel kernel, double const* result, std::size_t count,
                               std::uint64_t sample, device_comparison* comparison,
                               hipStream_t stream);

}  // namespace rocbench
