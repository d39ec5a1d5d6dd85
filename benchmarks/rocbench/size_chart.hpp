// SPDX-License-Identifier: MIT
// The drawing of a case's rate over sizes, with its limit and where the path changes.
#pragma once

#include <string>
#include <vector>

#include "case_result.hpp"

namespace rocbench {

/// As SVG; `library` and `raw` are of one case each, sizes ascending, measured. Either may be
/// empty, not both.
std::string svg_size_chart(std::vector<case_result const*> const& library,
                           std::vector<case_result const*> const& raw);

}  // namespace rocbench
