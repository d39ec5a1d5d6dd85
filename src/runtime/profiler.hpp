// SPDX-License-Identifier: MIT
// The range functions of the profiler that the process runs under, found at run time.
#pragma once

namespace roc::runtime {

/// The functions that begin and end a named range of the calling thread. Both are null if no
/// profiler is active.
struct profiler {
  int (*push)(char const* name) = nullptr;
  int (*pop)() = nullptr;
};

/// Returns the range functions of the process's profiler, or null functions if
/// options::profiler_ranges is false. The first call with that option searches for them, as
/// ROCARRAY_PROFILER specifies, and may load a library.
profiler const& current_profiler() noexcept;

}  // namespace roc::runtime
