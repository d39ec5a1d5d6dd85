// SPDX-License-Identifier: MIT
// The cases that there are, by name.
#pragma once

#include <string>
#include <vector>

#include "experiment.hpp"

namespace rocbench {

/// Every case, in the order of the table: each of the library's with HIP's own call behind it.
std::vector<benchmark_case> const& all_cases();

/// The cases that any of the globs names, in the table's order; all for no glob. `*` matches any
/// text, slashes too: "*pinned" names h2d/pinned, d2h/pinned, raw/h2d/pinned and raw/d2h/pinned.
std::vector<benchmark_case> matching_cases(std::vector<std::string> const& globs);

}  // namespace rocbench
