// SPDX-License-Identifier: MIT
// The list of all cases, and their selection by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "benchmark_case.hpp"

namespace rocbench {

/// Returns every case in the order of the table. A case of the library is followed by its raw
/// counterpart, if there is one.
std::vector<benchmark_case> const& all_cases();

/// Returns the cases that match at least one glob, in the order of all_cases(). `*` also matches
/// slashes: "*pinned" selects h2d/pinned, bidir/pinned, raw/h2d/pinned and others.
std::vector<benchmark_case> matching_cases(std::vector<std::string> const& globs);

/// Returns the cases that are measured if the command line names none.
std::vector<benchmark_case> default_cases();

/// Returns the case name that is most similar to `name`; empty if none is similar.
std::string_view nearest_case(std::string_view name);

}  // namespace rocbench
