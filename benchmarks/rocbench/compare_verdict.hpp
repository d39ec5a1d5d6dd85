// SPDX-License-Identifier: MIT
// The verdict of a comparison in one line.
#pragma once

#include <cstddef>
#include <string>

#include "comparison.hpp"

namespace rocbench {

/// Returns the last line of `compare`. Its parts are separated by "; ", the worst first, so that a
/// script can test the first word: "wrong data", "below" (a threshold), "slower", "faster", "same"
/// or "unclear". The last part counts the cases without a verdict.
/// @param tolerance as given to compare()
/// @param below number of cases below a threshold
/// Precondition: `runs` has at least one case.
std::string compare_verdict(comparison const& runs, double tolerance, std::size_t below);

}  // namespace rocbench
