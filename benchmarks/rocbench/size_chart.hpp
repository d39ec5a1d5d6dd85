// SPDX-License-Identifier: MIT
// The chart of a case's rate over size, with its limit and its changes of path.
#pragma once

#include <string>
#include <vector>

#include "case_result.hpp"

namespace rocbench {

/// Returns an SVG element. `library` and `raw` are the measured results of one case each, by
/// ascending size. Precondition: at least one of them is not empty.
std::string svg_size_chart(std::vector<case_result const*> const& library,
                           std::vector<case_result const*> const& raw);

}  // namespace rocbench
