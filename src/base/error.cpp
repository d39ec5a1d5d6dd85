// SPDX-License-Identifier: MIT
#include "base/error.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>

#include <roc/detail/throw.hpp>

#include "base/log.hpp"

namespace roc {
namespace {

std::error_code invalid_argument() { return std::make_error_code(std::errc::invalid_argument); }

void print_to_stderr(char const* message) noexcept {
  if (!base::logs(base::log_level::error)) return;
  std::fprintf(stderr, "rocarray: %s\n", message);
}

std::atomic<log_hook> hook = print_to_stderr;

template <class Number>
std::string list(Number const* values, std::size_t count) {
  std::string text = "(";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + ")";
}

std::string to_string(detail::message_value const& value) {
  using kind = detail::message_value::kind;
  switch (value.type) {
    case kind::signed_number: return std::to_string(value.number);
    case kind::unsigned_number: return std::to_string(static_cast<std::size_t>(value.number));
    case kind::signed_list: return list(value.signed_list, value.count);
    case kind::unsigned_list: return list(value.unsigned_list, value.count);
    case kind::text: break;
  }
  return value.text;
}

// Returns `format` with each {} replaced by the next value.
std::string format_message(char const* format, detail::message_value const* values,
                           std::size_t count) {
  std::string result = format;
  std::size_t position = 0;
  for (std::size_t i = 0; i < count; ++i) {
    position = result.find("{}", position);
    if (position == std::string::npos) break;
    std::string const text = to_string(values[i]);
    result.replace(position, 2, text);
    position += text.size();
  }
  return result;
}

}  // namespace

error::error(std::error_code code, std::string const& problem, char const* call,
             std::source_location location)
    : std::system_error(code), message_(problem), call_(call), location_(location) {}

shape_error::shape_error(std::string const& problem) : error(invalid_argument(), problem) {}
layout_error::layout_error(std::string const& problem) : error(invalid_argument(), problem) {}
overlap_error::overlap_error(std::string const& problem) : error(invalid_argument(), problem) {}
registration_error::registration_error(std::string const& problem)
    : error(invalid_argument(), problem) {}
lifetime_error::lifetime_error(std::string const& problem) : error(invalid_argument(), problem) {}

log_hook set_log_hook(log_hook replacement) noexcept {
  return hook.exchange(replacement == nullptr ? print_to_stderr : replacement);
}

namespace detail {

void throw_formatted_shape_error(char const* format, message_value const* values,
                                 std::size_t count) {
  throw shape_error(format_message(format, values, count));
}

void throw_formatted_layout_error(char const* format, message_value const* values,
                                  std::size_t count) {
  throw layout_error(format_message(format, values, count));
}

void throw_lifetime_error(char const* message) { throw lifetime_error(message); }

}  // namespace detail

namespace base {

void log_error(char const* message) noexcept { hook.load()(message); }

}  // namespace base
}  // namespace roc
