// SPDX-License-Identifier: MIT
// The command line of rocbench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "benchmark_case.hpp"
#include "comparison.hpp"
#include "exit_code.hpp"
#include "report.hpp"

namespace rocbench {

enum class command_kind : unsigned char {
  run,
  sweep,
  latency,
  alloc,
  check,
  info,
  list,
  doctor,
  compare,
  report
};

/// A tool whose sizes, counts, statistic and accounting are used instead of rocbench's.
enum class like_tool : unsigned char { none, nvbandwidth, babelstream };

/// The values of all options. An empty or unset value selects the command's default.
struct command_line {
  command_kind command = command_kind::run;
  std::vector<std::string> cases;    ///< globs
  std::vector<std::uint64_t> sizes;  ///< bytes
  std::uint64_t row = 4096;          ///< bytes
  std::uint64_t pitch = 0;           ///< bytes; parse_command_line() replaces 0 by 9/8 of the row
  std::uint64_t element = 4;         ///< bytes
  int device = 0;
  bool strict = false;             ///< noisy cases have their own exit code
  std::string json;                ///< file name; empty: no file
  std::string csv;                 ///< file name; empty: no file
  std::optional<double> min_time;  ///< seconds
  std::optional<double> max_time;  ///< seconds
  std::optional<unsigned> rounds;
  like_tool like = like_tool::none;
  injection_site inject = injection_site::none;
  compare_options comparing;
  report_options reporting;
};

/// Parses the command line. Returns an exit code instead if the program must end: after --help and
/// --version, which are printed to standard output, and after an error, which is reported on
/// standard error.
std::variant<command_line, exit_code> parse_command_line(int argc, char const* const* argv);

/// Returns the candidate with the smallest edit distance to `name`, the first of several; empty if
/// more than a third of the longer name's characters would have to change.
std::string nearest_name(std::string_view name, std::vector<std::string> const& candidates);

}  // namespace rocbench
