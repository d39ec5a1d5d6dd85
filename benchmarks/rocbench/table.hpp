// SPDX-License-Identifier: MIT
// The table on standard output: a row as soon as its case is measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "environment.hpp"
#include "experiment.hpp"
#include "measure.hpp"

namespace rocbench {

/// "256 MiB", "1.5 KiB", "17 B".
std::string format_size(std::size_t bytes);

void print_header(environment const& where);
void print_row(benchmark_case const& of, std::size_t bytes, std::string const& path,
               measurement const& measured);
void print_list(std::vector<benchmark_case> const& cases);

}  // namespace rocbench
