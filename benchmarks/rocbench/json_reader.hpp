// SPDX-License-Identifier: MIT
// Results from the files that rocbench writes. What a file holds is not trusted.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "document.hpp"

namespace rocbench {

/// A file that cannot be read, or is none of rocbench's; the text names it, the place and what is
/// wrong there.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws input_error.
document read_document(std::string const& path);

/// The same of a text; `name` stands for the file in errors.
document parse_document(std::string_view text, std::string const& name);

}  // namespace rocbench
