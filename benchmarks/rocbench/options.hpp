// SPDX-License-Identifier: MIT
// What the command line asks for.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "measure.hpp"

namespace rocbench {

enum class command : unsigned char { run, list };

struct options {
  command what = command::run;
  std::vector<std::string> cases;  ///< globs; none: every case
  std::uint64_t size = 0;          ///< bytes; 0: what suits the device
  int device = 0;
  measure_options measuring;
};

/// What the process ends with.
enum class exit_code : int {
  ok = 0,
  usage = 1,  ///< the command line, or a call that failed
  mismatch = 2,
  nothing_to_run = 5,  ///< no device, or no case of that name
};

/// The options, or the code to end with: after --help, --version (printed here) and wrong usage
/// (said on stderr).
std::variant<options, exit_code> parse_options(int argc, char** argv);

}  // namespace rocbench
