// SPDX-License-Identifier: MIT
// The table on standard output (on standard error, where files of results go to the former): a row
// as soon as its case is measured.
#pragma once

#include <cstdio>
#include <vector>

#include "case_result.hpp"
#include "cases.hpp"
#include "environment.hpp"

namespace rocbench {

void print_header(std::FILE* to, environment const& where, limits const& known);
void print_row(std::FILE* to, case_result const& row);
void print_list(std::vector<benchmark_case> const& cases);

}  // namespace rocbench
