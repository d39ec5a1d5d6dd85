// SPDX-License-Identifier: MIT
// Segmentation faults of death tests.
#pragma once

#include <csignal>

#include <sys/wait.h>

namespace roc::test {

/// Returns true if a process ended by a segmentation fault, which a sanitizer reports before it
/// ends the process itself, unless the stack has overflowed. For EXPECT_EXIT, with fault_text.
inline bool is_fault(int status) {
  bool const is_signal = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return is_signal || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
#else
  return is_signal;
#endif
}

/// What such a process writes, as a regular expression.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr char const* fault_text = "SEGV|stack-overflow";
#else
inline constexpr char const* fault_text = "";
#endif

}  // namespace roc::test
