// SPDX-License-Identifier: MIT
// The range functions of the profiler that the process runs under, found at run time.
#pragma once

#include <atomic>

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

/// False after a search that found no profiler.
extern constinit std::atomic<bool> may_have_profiler;

/// Returns true if current_profiler() has functions. Inline, because every copy asks.
inline bool has_profiler() noexcept {
  return may_have_profiler.load(std::memory_order_relaxed) && current_profiler().push != nullptr;
}

}  // namespace roc::runtime
