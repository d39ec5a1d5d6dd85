// SPDX-License-Identifier: MIT
// The commands that measure: run, sweep, latency, alloc and check, and their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <roc/device.hpp>

#include "benchmark_case.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "measure.hpp"

namespace rocbench {

/// What a command measures.
struct measuring_plan {
  std::vector<std::string> globs;    ///< empty: the default cases
  std::vector<std::uint64_t> sizes;  ///< bytes
  measure_options measuring;

  /// Returns the selected cases; empty if none matches.
  case_vector cases() const { return globs.empty() ? default_cases() : matching_cases(globs); }
};

/// Bytes of one of BabelStream's arrays: 2^28 doubles.
inline constexpr std::uint64_t babelstream_bytes = std::uint64_t{1} << 31;

/// Returns what the options say or, for the rest, the defaults of the command or of the tool that
/// --like names.
/// @param largest upper bound of the command's own sizes
/// @param largest_array upper bound of BabelStream's array size
measuring_plan make_plan(command_line const& options, std::uint64_t largest = 0,
                         std::uint64_t largest_array = 0);

/// Measures the cases, prints the table and writes the result files. Precondition: `device` is
/// current. Throws roc::error, file_error.
exit_code run(command_line const& options, roc::device const& device);

}  // namespace rocbench
