// SPDX-License-Identifier: MIT
// The text output of the commands that measure and of `list`.
#pragma once

#include <cstdio>
#include <vector>

#include "benchmark_case.hpp"
#include "case_result.hpp"
#include "machine_limits.hpp"
#include "run_environment.hpp"

namespace rocbench {

/// Prints the device, the versions and the physical limits.
void print_environment(std::FILE* file, run_environment const& environment,
                       machine_limits const& limits);

/// Prints results row by row. There are three kinds of rows, each with its own column headings:
/// rates, times, and the figures of BabelStream's loops.
class result_table {
 public:
  explicit result_table(std::FILE* file) : file_(file) {}

  void print_row(case_result const& result);

 private:
  enum class row_kind : unsigned char { none, rate, time, loop };
  void print_headings(row_kind kind);

  std::FILE* file_;
  row_kind headings_ = row_kind::none;
};

/// Prints a result of `check`: whether the data arrived.
void print_check_result(std::FILE* file, case_result const& result);

/// Prints names and descriptions of cases to standard output.
void print_list(std::vector<benchmark_case> const& cases);

}  // namespace rocbench
