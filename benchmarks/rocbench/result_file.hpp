// SPDX-License-Identifier: MIT
// Result files: JSON, an extension of Google Benchmark's format 1, and CSV (RFC 4180). Reads files,
// whose contents and size are not trusted, and writes them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "benchmark_run.hpp"

namespace rocbench {

/// Thrown if a file cannot be read or written, or has unexpected contents; what() names the file,
/// the place and the problem.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the contents of a file of at most 64 MiB. Throws file_error.
std::string read_file(std::string const& path);

/// Throws file_error if write_file() cannot write to the path. Leaves an existing file as it is.
void check_writable(std::string const& path);

/// Writes a file. A regular file is written under a temporary name and then renamed, so that an
/// existing file remains until the new one is complete. The path "-" is standard output. Throws
/// file_error.
void write_file(std::string const& path, std::string_view text);

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
