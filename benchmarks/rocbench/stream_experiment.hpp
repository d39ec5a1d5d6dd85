// SPDX-License-Identifier: MIT
// The experiment of BabelStream's kernels.
#pragma once

#include <cstddef>
#include <memory>

#include "benchmark_case.hpp"
#include "experiment.hpp"
#include "stream_values.hpp"

namespace rocbench {

/// Returns an experiment that runs one kernel on arrays of `count` doubles. bytes() is the size of
/// one array. counted_bytes() is what the kernel reads and writes, as in BabelStream: two arrays
/// for copy, mul and dot, three for add and triad.
///
/// Results are compared on the device, bit for bit; the result of dot must be exact, see
/// stream_values.hpp.
std::unique_ptr<experiment> make_stream_experiment(stream_kernel kernel, api_kind api,
                                                   std::size_t count);

}  // namespace rocbench
