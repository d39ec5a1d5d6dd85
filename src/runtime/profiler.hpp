// SPDX-License-Identifier: MIT
// The functions of the profiler that the process runs under, found at run time.
#pragma once

namespace roc::runtime {

/// Both null while nobody profiles.
struct profiler {
  int (*push)(char const* name) = nullptr;
  int (*pop)() = nullptr;
};

/// Looked for once.
profiler const& the_profiler() noexcept;

}  // namespace roc::runtime
