// SPDX-License-Identifier: MIT
// What the library tells on stderr, by level; the level is ROC_LOG's.
#pragma once

namespace roc::runtime {

/// A level includes those before it. Errors that nobody can catch go to the log hook
/// (runtime/error.hpp), which writes a line by default.
enum class log_level : unsigned char {
  off,      // nothing
  error,    // late errors
  warning,  // settings that cannot be used, leaks; the default
  info,     // what happens rarely: memory taken for staging, the profiler found
  debug,    // allocations, streams
  trace,    // every copy and fill
};

/// The level read from ROC_LOG, or set since.
log_level log_threshold() noexcept;
void set_log_threshold(log_level level) noexcept;

inline bool logs(log_level level) noexcept { return level <= log_threshold(); }

/// Writes one line, "rocarray: debug: …", where the level asks for it. The format is printf's.
[[gnu::format(printf, 2, 3)]] void log_line(log_level level, char const* format, ...) noexcept;

}  // namespace roc::runtime
