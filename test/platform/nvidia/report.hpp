// SPDX-License-Identifier: MIT
// The output of the nvidia probe: a line per check that begins with "ok" or "FAIL", or with "note"
// if the library does not depend on the result.
#pragma once

#include "platform/hip.hpp"

namespace probe {

/// Prints a heading.
void section(char const* name);
/// Prints whether a check passed, and counts it as a failure if not.
void check(bool passed, char const* description);
/// Checks that a call returned the expected code. Clears the last error.
void expect(hipError_t expected, hipError_t result, char const* description);
/// Exits with 1 if a call failed on which the following checks depend.
void need(hipError_t result, char const* description);
/// Prints a code on which the library does not depend. Clears the last error.
void note(hipError_t result, char const* description);
void note(double value, char const* unit, char const* description);

/// Returns the number of failed checks.
int failures();

}  // namespace probe
