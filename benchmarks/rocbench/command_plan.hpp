// SPDX-License-Identifier: MIT
// The cases, sizes and times of a command, from the command line and the command's defaults.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmark_case.hpp"
#include "command_line.hpp"
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

}  // namespace rocbench
