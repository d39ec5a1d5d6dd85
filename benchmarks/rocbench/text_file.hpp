// SPDX-License-Identifier: MIT
// Reads input files, whose contents and size are not trusted.
#pragma once

#include <stdexcept>
#include <string>

namespace rocbench {

/// Thrown if a file cannot be read or has unexpected contents; what() names the file, the place
/// and the problem.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the contents of a file of at most 64 MiB. Throws input_error.
std::string read_text_file(std::string const& path);

}  // namespace rocbench
