// SPDX-License-Identifier: MIT
#include "base/log.hpp"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace roc::base {
namespace {

constexpr std::array<std::string_view, 6> level_names = {"off",  "error", "warning",
                                                         "info", "debug", "trace"};

log_level level_from_environment() noexcept {
  char const* const text = std::getenv("ROCARRAY_LOG");
  if (text == nullptr) return log_level::warning;
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == text) return static_cast<log_level>(i);
  }
  std::fprintf(stderr,
               "rocarray: warning: ROCARRAY_LOG is not a log level: %s; use off, error, warning, "
               "info, debug or trace\n",
               text);
  return log_level::warning;
}

constexpr int not_read = -1;

}  // namespace

constinit std::atomic<int> cached_log_threshold = not_read;

log_level read_log_threshold() noexcept {
  // Static, so that an unusable value is reported once.
  static log_level const from_environment = level_from_environment();
  int expected = not_read;
  cached_log_threshold.compare_exchange_strong(expected, static_cast<int>(from_environment));
  return static_cast<log_level>(cached_log_threshold.load(std::memory_order_relaxed));
}

void set_log_threshold(log_level level) noexcept {
  cached_log_threshold.store(static_cast<int>(level), std::memory_order_relaxed);
}

void log_line(log_level level, char const* format, ...) noexcept {
  if (!logs(level)) return;
  std::array<char, 1024> text;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  // One call per line, so that lines of several threads do not mix.
  std::fprintf(stderr, "rocarray: %s: %s\n", level_names[static_cast<std::size_t>(level)].data(),
               text.data());
}

}  // namespace roc::base
