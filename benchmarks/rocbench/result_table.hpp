// SPDX-License-Identifier: MIT
// The text output of the commands that measure and of `info`.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "benchmark_case.hpp"
#include "benchmark_run.hpp"

namespace rocbench {

/// The capabilities of the terminal or file that a table is written to.
struct terminal {
  std::size_t columns = 80;
  bool has_color = false;

  /// Returns the window's width, or that of the variable COLUMNS, and 80 if neither is known. There
  /// are colors if the file is a terminal and NO_COLOR is not set.
  static terminal of(std::FILE* file);
};

/// Prints the device, the versions and the physical limits.
void print_environment(std::FILE* file, run_environment const& environment,
                       machine_limits const& limits);

/// Prints the facts about the machine and its state, as `info` does.
void print_facts(std::FILE* file, run_environment const& environment);

/// Prints a line per case and size: the library, HIP's own call, and their ratio. Terminals of at
/// least 120 columns have more columns. Figures of BabelStream's loops have that tool's columns.
class result_table {
 public:
  /// @param planned all cases to come; a result is printed when that of its raw counterpart arrives
  result_table(std::FILE* file, std::vector<benchmark_case> const& planned)
      : result_table(file, planned, terminal::of(file)) {}
  result_table(std::FILE* file, std::vector<benchmark_case> const& planned, terminal shown_on);

  void print_row(case_result const& result);
  /// Prints the results that wait for their counterpart, and what the run shows.
  void finish(benchmark_run const& run);

 private:
  void print_pair(case_result const* library, case_result const* raw);
  void print_headings(char const* explanation, std::string const& columns);
  std::string cells_of_pair(case_result const* library, case_result const* raw) const;
  std::string colored(std::string const& text, char const* color) const;

  std::FILE* file_;
  terminal terminal_;
  std::vector<std::string> planned_;   // names
  std::vector<case_result> waiting_;   // results of the library
  char const* explanation_ = nullptr;  // of the headings that were printed last
};

/// Prints a result of `check`: whether the data arrived.
void print_check_result(std::FILE* file, case_result const& result);

}  // namespace rocbench
