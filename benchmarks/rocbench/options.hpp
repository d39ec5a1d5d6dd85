// SPDX-License-Identifier: MIT
// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compare_command.hpp"
#include "exit_code.hpp"
#include "inject.hpp"
#include "measure.hpp"
#include "report_command.hpp"

namespace rocbench {

enum class command : unsigned char {
  run,
  sweep,
  latency,
  alloc,
  check,
  info,
  list,
  compare,
  report
};

/// Another tool, whose size, counts, statistic and way to count bytes are taken over.
enum class like_tool : unsigned char { none, nvbandwidth, babelstream };

struct options {
  command what = command::run;
  std::vector<std::string> cases;    ///< globs; none: those of the command
  std::vector<std::uint64_t> sizes;  ///< bytes; none: those of the command
  std::uint64_t row = 4096;          ///< of strided cases, and of pieces of batches; bytes
  std::uint64_t pitch = 0;           ///< bytes; 0: an eighth more than the row
  std::uint64_t element = 4;         ///< of permutations, bytes
  int device = 0;
  bool strict = false;             ///< noise ends with a code of its own
  std::string json;                ///< where JSON goes; empty: nowhere
  std::string csv;                 ///< where CSV goes
  std::optional<double> min_time;  ///< else the command's
  std::optional<double> max_time;
  std::optional<unsigned> rounds;
  like_tool like = like_tool::none;
  inject_place inject = inject_place::none;
  compare_options comparing;
  report_options reporting;
};

/// The options, or the code to end with: after --help, --version (printed here) and wrong usage
/// (said on stderr).
std::variant<options, exit_code> parse_options(int argc, char** argv);

}  // namespace rocbench
