// SPDX-License-Identifier: MIT
// Diagnostics on stderr, filtered by the level that ROCARRAY_LOG sets.
#pragma once

#include <atomic>

namespace roc::base {

/// A level includes all levels before it. Errors that no caller can catch go to the log hook
/// (base/error.hpp) instead; the default hook writes them to stderr, except at level `off`.
enum class log_level : unsigned char {
  off,      // nothing
  error,    // errors that no caller can catch
  warning,  // unusable settings, leaks; the default
  info,     // rare events: staging memory is allocated, a profiler was found
  debug,    // allocations, streams
  trace,    // every copy and fill
};

/// The current level, or -1 until it has been set or ROCARRAY_LOG has been read.
extern std::atomic<int> cached_log_threshold;

/// Reads ROCARRAY_LOG, unless that was done already, and returns the current level. Only
/// log_threshold calls it.
log_level read_log_threshold() noexcept;

/// Returns the level that ROCARRAY_LOG names, or that set_log_threshold set since.
inline log_level log_threshold() noexcept {
  int const threshold = cached_log_threshold.load(std::memory_order_relaxed);
  return threshold >= 0 ? static_cast<log_level>(threshold) : read_log_threshold();
}
/// Sets the level of the process. ROCARRAY_LOG has no effect from then on.
void set_log_threshold(log_level level) noexcept;

/// Returns true if messages of this level are written.
inline bool logs(log_level level) noexcept { return level <= log_threshold(); }

/// Writes the line "rocarray: <level>: <message>" if messages of this level are written. The format
/// is printf's; messages over 1023 bytes are truncated. Lines of several threads do not mix.
[[gnu::format(printf, 2, 3)]] void log_line(log_level level, char const* format, ...) noexcept;

}  // namespace roc::base
