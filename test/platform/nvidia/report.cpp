// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <cstdio>
#include <cstdlib>

namespace probe {

namespace {

int failed = 0;

}  // namespace

void section(char const* name) { std::printf("\n%s\n", name); }

void check(bool passed, char const* description) {
  if (!passed) ++failed;
  std::printf("  %s  %s\n", passed ? "ok  " : "FAIL", description);
  std::fflush(stdout);
}

void expect(hipError_t expected, hipError_t result, char const* description) {
  check(result == expected, description);
  if (result != expected) {
    std::printf("        expected %d (%s), got %d (%s)\n", int(expected), hipGetErrorName(expected),
                int(result), hipGetErrorName(result));
  }
  (void)hipGetLastError();
}

void need(hipError_t result, char const* description) {
  if (result == hipSuccess) return;
  expect(hipSuccess, result, description);
  std::printf("\nstopped: the remaining checks depend on this call\n");
  std::exit(1);
}

void note(hipError_t result, char const* description) {
  std::printf("  note  %s: %d (%s)\n", description, int(result), hipGetErrorName(result));
  (void)hipGetLastError();
}

void note(double value, char const* unit, char const* description) {
  std::printf("  note  %s: %g %s\n", description, value, unit);
}

int failures() { return failed; }

}  // namespace probe
