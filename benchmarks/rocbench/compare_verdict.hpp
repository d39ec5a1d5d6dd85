// SPDX-License-Identifier: MIT
// What a comparison comes to, in one line.
#pragma once

#include <cstddef>
#include <string>

#include "comparison.hpp"

namespace rocbench {

/// The line that `compare` ends with: parts with "; " between them, the worst first, so that its
/// first word is what a script asks for: "wrong data", "below" (a threshold), "slower", "faster",
/// "same" (nothing is any of these), or "unclear" where no case tells even that. Cases that tell
/// nothing are counted behind it. `tolerance` as of compare(); `below` thresholds were missed.
/// Precondition: a case.
std::string compare_verdict(comparison const& runs, double tolerance, std::size_t below);

}  // namespace rocbench
