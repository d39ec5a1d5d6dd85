// SPDX-License-Identifier: MIT
// What is shown of a run, a row as soon as its case is measured.
#pragma once

#include <cstdio>
#include <vector>

#include "case_result.hpp"
#include "cases.hpp"
#include "environment.hpp"

namespace rocbench {

/// What the figures were taken on, and what they should be read as.
void print_environment(std::FILE* to, environment const& where, limits const& known);

/// Rates with their limits; times, for the cases that count those, and what BabelStream says of a
/// loop, where that was asked for: each below names of columns of its own.
class table {
 public:
  explicit table(std::FILE* to) : to_(to) {}

  void row(case_result const& of);

 private:
  enum class columns : unsigned char { none, rates, times, loops };
  void names(columns wanted);

  std::FILE* to_;
  columns shown_ = columns::none;
};

/// For `check`: whether the data arrived, and nothing else.
void print_checked(std::FILE* to, case_result const& of);

void print_list(std::vector<benchmark_case> const& cases);

}  // namespace rocbench
