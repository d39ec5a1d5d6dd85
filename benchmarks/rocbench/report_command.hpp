// SPDX-License-Identifier: MIT
// The command `report`.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace rocbench {

struct report_options {
  std::string first;   ///< a file of --json
  std::string second;  ///< a later run, then the one shown, with the changes; empty: none
  std::string output;  ///< where it goes: - is standard output, .svg at the end a picture
};

/// Writes the page, or the picture of one run. `usage` for a picture of two runs, or of one without
/// rates. Throws input_error, output_error.
exit_code report(report_options const& chosen);

}  // namespace rocbench
