// SPDX-License-Identifier: MIT
// Reads the result files that rocbench writes with --json. Their contents are not trusted.
#pragma once

#include <string>
#include <string_view>

#include "benchmark_run.hpp"

namespace rocbench {

/// Reads a result file. Throws input_error.
benchmark_run read_run(std::string const& path);

/// Parses the text of a result file. Throws input_error.
/// @param name name of the file in error messages
benchmark_run parse_run(std::string_view text, std::string const& name);

}  // namespace rocbench
