// SPDX-License-Identifier: MIT
// Reads files, whose contents and size are not trusted, and writes results.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

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

}  // namespace rocbench
