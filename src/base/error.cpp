// SPDX-License-Identifier: MIT
#include "base/error.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include <roc/detail/call_scope.hpp>
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

// Returns true if `file` is below the directory in which `known_file` is `name`. Relative paths
// tell nothing: the sources of the program and of the library may have the same.
bool is_beside(std::string_view file, std::string_view known_file, std::string_view name) {
  return known_file.starts_with('/') &&
         file.starts_with(known_file.substr(0, known_file.size() - name.size()));
}

// Returns the message with the operation and its place before the problem.
std::string describe(std::string const& problem) {
  if (detail::current_call == nullptr) return problem;
  std::string text = detail::current_call->operation();
  if (char const* const direction = detail::current_call->direction(); direction != nullptr) {
    text.append(" (").append(direction).append(")");
  }
  if (std::source_location const location = base::location_of_caller(); location.line() != 0) {
    std::string_view const file = location.file_name();
    text.append(" at ").append(file.substr(file.rfind('/') + 1));
    text.append(":").append(std::to_string(location.line()));
  }
  return text + ": " + problem;
}

}  // namespace

namespace detail {
constinit thread_local call_scope const* current_call = nullptr;
}

error::error(std::error_code code, std::string const& problem, char const* call,
             std::source_location location)
    : std::system_error(code),
      message_(describe(problem)),
      call_(call),
      location_(base::location_of_caller().line() != 0 ? base::location_of_caller() : location) {}

shape_error::shape_error(std::string const& problem) : error(invalid_argument(), problem) {}
layout_error::layout_error(std::string const& problem) : error(invalid_argument(), problem) {}
overlap_error::overlap_error(std::string const& problem) : error(invalid_argument(), problem) {}
registration_error::registration_error(std::string const& problem)
    : error(invalid_argument(), problem) {}
lifetime_error::lifetime_error(std::string const& problem) : error(invalid_argument(), problem) {}
dlpack_error::dlpack_error(std::string const& problem) : error(invalid_argument(), problem) {}
ipc_error::ipc_error(std::errc cause, std::string const& problem)
    : error(std::make_error_code(cause), problem) {}

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

void log_late_error(char const* message) noexcept { base::log_error(message); }

void throw_lifetime_error(char const* message) { throw lifetime_error(message); }

}  // namespace detail

namespace base {

void log_error(char const* message) noexcept { hook.load()(message); }

std::source_location location_of_caller() noexcept {
  if (detail::current_call == nullptr) return {};
  std::source_location const location = detail::current_call->location();
  bool const is_own =
      is_beside(location.file_name(), detail::current_call->header(), "detail/call_scope.hpp") ||
      is_beside(location.file_name(), __FILE__, "base/error.cpp");
  return is_own ? std::source_location() : location;
}

}  // namespace base
}  // namespace roc
