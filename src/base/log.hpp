// SPDX-License-Identifier: MIT
// What the library tells on stderr, by level; the level is ROCARRAY_LOG's.
#pragma once

#include <atomic>

namespace roc::base {

/// A level includes those before it. Errors that nobody can catch go to the log hook
/// (base/error.hpp), which writes a line by default.
enum class log_level : unsigned char {
  off,      // nothing
  error,    // late errors
  warning,  // settings that cannot be used, leaks; the default
  info,     // what happens rarely: memory taken for staging, the profiler found
  debug,    // allocations, streams
  trace,    // every copy and fill
};

extern std::atomic<int> known_log_threshold;  // -1: not yet read
log_level read_log_threshold() noexcept;

/// The level read from ROCARRAY_LOG, or set since.
inline log_level log_threshold() noexcept {
  int const known = known_log_threshold.load(std::memory_order_relaxed);
  return known >= 0 ? static_cast<log_level>(known) : read_log_threshold();
}
void set_log_threshold(log_level level) noexcept;

inline bool logs(log_level level) noexcept { return level <= log_threshold(); }

/// Writes one line, "rocarray: debug: …", where the level asks for it. The format is printf's.
[[gnu::format(printf, 2, 3)]] void log_line(log_level level, char const* format, ...) noexcept;

}  // namespace roc::base
