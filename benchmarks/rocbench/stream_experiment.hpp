// SPDX-License-Identifier: MIT
// The experiment of BabelStream's kernels.
#pragma once

#include <cstddef>
#include <memory>

#include "cases.hpp"
#include "experiment.hpp"
#include "stream_values.hpp"

namespace rocbench {

/// One kernel over arrays of `count` elements. bytes() are those of one array, counted are those
/// that the kernel reads and writes, as BabelStream counts them: copy, mul and dot 2 arrays, add
/// and triad 3.
///
/// Results are compared on the device, which is as fast as the kernel itself. A result of dot is
/// exact, and has to be: see stream_values.hpp.
std::unique_ptr<experiment> make_stream_experiment(stream_kernel what, caller by,
                                                   std::size_t count);

}  // namespace rocbench
