// SPDX-License-Identifier: MIT
// What the command line asks for.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "exit_code.hpp"
#include "measure.hpp"

namespace rocbench {

enum class command : unsigned char { run, list };

struct options {
  command what = command::run;
  std::vector<std::string> cases;    ///< globs; none: those of the default set
  std::vector<std::uint64_t> sizes;  ///< bytes; none: what suits the device
  std::uint64_t row = 4096;          ///< of strided cases, bytes
  std::uint64_t pitch = 0;           ///< bytes; 0: an eighth more than the row
  int device = 0;
  bool strict = false;  ///< noise ends with a code of its own
  measure_options measuring;
};

/// The options, or the code to end with: after --help, --version (printed here) and wrong usage
/// (said on stderr).
std::variant<options, exit_code> parse_options(int argc, char** argv);

}  // namespace rocbench
