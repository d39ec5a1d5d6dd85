// SPDX-License-Identifier: MIT
// Reading a file whose size is not trusted.
#pragma once

#include <string>

namespace rocbench {

/// The whole file, 64 MiB at most. Throws input_error.
std::string read_text_file(std::string const& path);

}  // namespace rocbench
