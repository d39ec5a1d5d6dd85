// SPDX-License-Identifier: MIT
// What the nvidia probe found, line by line: "ok", "FAIL", or "note" where the library does not
// depend on the answer.
#pragma once

#include "platform/hip.hpp"

namespace probe {

void section(char const* name);
void check(bool holds, char const* what);
/// Checks that a call gave the expected code, and clears the last error.
void expect(hipError_t wanted, hipError_t got, char const* what);
/// As expect(hipSuccess, …), but ends the program on an error: what follows needs the call.
void need(hipError_t got, char const* what);
/// Prints a code that the library does not depend on, and clears the last error.
void note(hipError_t got, char const* what);
void note(double value, char const* unit, char const* what);

int failures();

}  // namespace probe
