// SPDX-License-Identifier: MIT
// The chain of calls that led to a place in the program.
#pragma once

#include <array>
#include <string>

namespace roc::base {

/// Return addresses, innermost first; none where the C library has no backtrace.
class call_site {
 public:
  /// That of the caller's caller.
  static call_site here() noexcept;

  /// A line for each call: the function where its name is known (it is for exported functions), and
  /// the module with the offset that addr2line takes.
  std::string describe() const;

 private:
  std::array<void*, 16> calls_{};
  int count_ = 0;
};

}  // namespace roc::base
