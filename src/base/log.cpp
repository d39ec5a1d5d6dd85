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

constexpr std::array<std::string_view, 6> names = {"off",  "error", "warning",
                                                   "info", "debug", "trace"};

log_level read() noexcept {
  char const* const text = std::getenv("ROCARRAY_LOG");
  if (text == nullptr) return log_level::warning;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<log_level>(i);
  }
  std::fprintf(stderr,
               "rocarray: warning: ROCARRAY_LOG=%s: give off, error, warning, info, debug or trace\n",
               text);
  return log_level::warning;
}

constexpr int unread = -1;

}  // namespace

constinit std::atomic<int> known_log_threshold = unread;

log_level read_log_threshold() noexcept {
  static log_level const from_environment = read();  // so that a bad value is reported once
  int known = unread;
  known_log_threshold.compare_exchange_strong(known, static_cast<int>(from_environment));
  return static_cast<log_level>(known_log_threshold.load(std::memory_order_relaxed));
}

void set_log_threshold(log_level level) noexcept {
  known_log_threshold.store(static_cast<int>(level), std::memory_order_relaxed);
}

void log_line(log_level level, char const* format, ...) noexcept {
  if (!logs(level)) return;
  std::array<char, 1024> text;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  // One call a line: lines of several threads stay whole.
  std::fprintf(stderr, "rocarray: %s: %s\n", names[static_cast<std::size_t>(level)].data(),
               text.data());
}

}  // namespace roc::base
