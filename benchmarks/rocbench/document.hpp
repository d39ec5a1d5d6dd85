// SPDX-License-Identifier: MIT
// A run as a whole: what files of results hold, and what is compared and drawn.
#pragma once

#include <vector>

#include "case_result.hpp"
#include "environment.hpp"
#include "limits.hpp"

namespace rocbench {

struct document {
  environment where;
  limits known;
  std::vector<case_result> results;
};

}  // namespace rocbench
