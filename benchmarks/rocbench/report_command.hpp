// SPDX-License-Identifier: MIT
// The command `report`.
#pragma once

#include <string>

#include "exit_code.hpp"

namespace rocbench {

struct report_options {
  std::string results;  ///< result file of --json
  std::string later;    ///< result file of a later run to compare with; empty: none
  std::string output;   ///< file to write; "-" is standard output, *.svg selects a picture
};

/// Writes an HTML page, or an SVG picture of one run. Returns `usage` if a picture of two runs is
/// requested, or of a run without rates. Throws input_error, output_error.
exit_code report(report_options const& options);

}  // namespace rocbench
