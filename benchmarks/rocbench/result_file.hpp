// SPDX-License-Identifier: MIT
// Result files: JSON, an extension of Google Benchmark's format 1, and CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>

#include "benchmark_run.hpp"

namespace rocbench {

/// Version of rocbench's fields in result files; files of other versions are refused.
inline constexpr int result_schema = 2;

/// Returns the run as JSON.
std::string to_json(benchmark_run const& run);
/// Returns the run as CSV: a header line, then one line per result. Rates are bytes per second,
/// times are seconds, unknown values are empty.
std::string to_csv(benchmark_run const& run);

/// Reads a JSON file, whose contents are not trusted. Throws file_error, which names the file and
/// the value.
benchmark_run read_run(std::string const& path);
/// Parses the text of a JSON file. Throws file_error.
/// @param name name of the file in error messages
benchmark_run parse_run(std::string_view text, std::string const& name);

}  // namespace rocbench
