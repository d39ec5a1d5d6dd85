// SPDX-License-Identifier: MIT
// Call stacks, recorded cheaply and resolved to names only if they are reported.
#pragma once

#include <array>
#include <string>

namespace roc::base {

/// The innermost return addresses of a thread's call stack, innermost first. Empty if the C library
/// has no backtrace().
class call_site {
 public:
  /// Records the call stack from the caller's caller outwards. Resolves no symbols.
  static call_site here() noexcept;

  /// Returns one line per call: the name of the function if it is exported, then the module and the
  /// offset in it, in the form that addr2line takes.
  std::string describe() const;

 private:
  std::array<void*, 16> calls_{};
  int count_ = 0;
};

}  // namespace roc::base
