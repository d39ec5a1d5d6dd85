// SPDX-License-Identifier: MIT
// The table on standard output: a row as soon as its case is measured.
#pragma once

#include <string>
#include <vector>

#include "case_result.hpp"
#include "cases.hpp"
#include "environment.hpp"

namespace rocbench {

void print_header(environment const& where, limits const& known);
void print_row(case_result const& row);
void print_list(std::vector<benchmark_case> const& cases);

}  // namespace rocbench
