// SPDX-License-Identifier: MIT
#include "base/error.hpp"

#include <atomic>
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

std::string to_string(detail::numbers numbers) {
  if (!numbers.shown) return "";
  std::string text = "(";
  for (std::size_t i = 0; i < numbers.count; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(numbers.values[i]);
  }
  return text + ")";
}

std::string message(char const* what, detail::numbers a, char const* between, detail::numbers b,
                    char const* advice) {
  return what + to_string(a) + between + to_string(b) + advice;
}

}  // namespace

error::error(std::error_code code, std::string const& problem, char const* call,
             std::source_location place)
    : std::system_error(code), message_(problem), call_(call), place_(place) {}

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

void throw_shape_error(char const* what, numbers a, char const* between, numbers b,
                       char const* advice) {
  throw shape_error(message(what, a, between, b, advice));
}

void throw_layout_error(char const* what, numbers a, char const* between, numbers b,
                        char const* advice) {
  throw layout_error(message(what, a, between, b, advice));
}

void throw_lifetime_error(char const* what) { throw lifetime_error(what); }

}  // namespace detail

namespace base {

void log(char const* message) noexcept { hook.load()(message); }

}  // namespace base
}  // namespace roc
