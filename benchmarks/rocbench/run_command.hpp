// SPDX-License-Identifier: MIT
// The commands that measure: run, sweep, latency, alloc and check, and their defaults.
#pragma once

#include <cstdint>
#include <vector>

#include <roc/device.hpp>

#include "benchmark_case.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "measure.hpp"

namespace rocbench {

/// Returns the selected cases, or the command's own if none is named. Empty if no case matches.
std::vector<benchmark_case> planned_cases(command_line const& options);

/// Bytes of one of BabelStream's arrays: 2^28 doubles.
inline constexpr std::uint64_t babelstream_bytes = std::uint64_t{1} << 31;

/// Returns the sizes in bytes: those of --size, of the tool named by --like, or of the command.
/// @param largest upper bound of the command's own sizes
/// @param largest_array upper bound of BabelStream's array size
std::vector<std::uint64_t> planned_sizes(command_line const& options, std::uint64_t largest,
                                         std::uint64_t largest_array);

/// Returns the times, rounds and counts to measure with.
measure_options planned_measuring(command_line const& options);

/// Measures the cases, prints the table and writes the result files. Precondition: `device` is
/// current. Throws roc::error, file_error.
exit_code run(command_line const& options, std::vector<benchmark_case> const& cases,
              roc::device const& device);

}  // namespace rocbench
