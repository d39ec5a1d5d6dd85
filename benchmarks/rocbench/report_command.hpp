// SPDX-License-Identifier: MIT
// The command `report`.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace rocbench {

struct report_options {
  std::string first;   ///< a file of --json
  std::string second;  ///< a later run, then the one shown, with the changes; empty: none
  std::string output;  ///< - is standard output
};

/// Writes the page. Throws input_error, output_error.
exit_code report(report_options const& chosen);

}  // namespace rocbench
