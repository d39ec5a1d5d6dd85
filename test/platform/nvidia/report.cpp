// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <cstdio>
#include <cstdlib>

namespace probe {

namespace {

int failed = 0;

}  // namespace

void section(char const* name) { std::printf("\n%s\n", name); }

void check(bool holds, char const* what) {
  if (!holds) ++failed;
  std::printf("  %s  %s\n", holds ? "ok  " : "FAIL", what);
  std::fflush(stdout);
}

void expect(hipError_t wanted, hipError_t got, char const* what) {
  check(got == wanted, what);
  if (got != wanted) {
    std::printf("        wanted %d (%s), got %d (%s)\n", int(wanted), hipGetErrorName(wanted),
                int(got), hipGetErrorName(got));
  }
  (void)hipGetLastError();
}

void need(hipError_t got, char const* what) {
  if (got == hipSuccess) return;
  expect(hipSuccess, got, what);
  std::printf("\nstopped: the rest needs this call\n");
  std::exit(1);
}

void note(hipError_t got, char const* what) {
  std::printf("  note  %s: %d (%s)\n", what, int(got), hipGetErrorName(got));
  (void)hipGetLastError();
}

void note(double value, char const* unit, char const* what) {
  std::printf("  note  %s: %g %s\n", what, value, unit);
}

int failures() { return failed; }

}  // namespace probe
