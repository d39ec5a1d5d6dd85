// SPDX-License-Identifier: MIT
// The command line of rocbench, and what its options say to measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "benchmark_case.hpp"
#include "comparison.hpp"
#include "format.hpp"
#include "measure.hpp"
#include "report.hpp"

namespace rocbench {

enum class command_kind : unsigned char {
  run,
  sweep,
  latency,
  alloc,
  check,
  list,
  info,
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

/// What a command measures.
struct measuring_plan {
  std::vector<std::string> globs;    ///< empty: the default cases
  std::vector<std::uint64_t> sizes;  ///< bytes
  measure_options measuring;
  /// True: cases that have a usual size are measured with that size, at most the largest of
  /// `sizes`.
  bool prefers_usual_sizes = false;

  /// Returns the selected cases; empty if none matches.
  case_vector cases() const { return globs.empty() ? default_cases() : matching_cases(globs); }
  /// Returns the sizes to measure a case with.
  std::vector<std::uint64_t> sizes_of(benchmark_case const& benchmark) const;
};

/// Bytes of one of BabelStream's arrays: 2^28 doubles.
inline constexpr std::uint64_t babelstream_bytes = std::uint64_t{1} << 31;

/// Returns what the options say or, for the rest, the defaults of the command or of the tool that
/// --like names.
/// @param largest upper bound of the command's own sizes
/// @param largest_array upper bound of BabelStream's array size
measuring_plan make_plan(command_line const& options, std::uint64_t largest = 0,
                         std::uint64_t largest_array = 0);

}  // namespace rocbench
