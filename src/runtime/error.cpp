// SPDX-License-Identifier: MIT
#include "runtime/error.hpp"

#include <atomic>
#include <cstdio>
#include <string>

#include <roc/detail/throw.hpp>

#include "platform/hip.hpp"
#include "runtime/log.hpp"

namespace roc {
namespace {

class category final : public std::error_category {
 public:
  char const* name() const noexcept override { return "hip"; }

  std::string message(int code) const override {
    return hipGetErrorString(static_cast<hipError_t>(code));
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<hipError_t>(code)) {
      case hipErrorOutOfMemory:
        return std::errc::not_enough_memory;
      case hipErrorInvalidValue:
        return std::errc::invalid_argument;
      case hipErrorNoDevice:
      case hipErrorInvalidDevice:
      case hipErrorInsufficientDriver:
        return std::errc::no_such_device;
      case hipErrorNotSupported:
        return std::errc::not_supported;
      default:
        return {code, *this};
    }
  }
};

std::error_code invalid_argument() { return std::make_error_code(std::errc::invalid_argument); }

void print_to_stderr(char const* message) noexcept {
  if (!runtime::logs(runtime::log_level::error)) return;
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

std::error_category const& hip_category() noexcept {
  static category const instance;
  return instance;
}

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

namespace runtime {

void log(char const* message) noexcept { hook.load()(message); }

}  // namespace runtime
}  // namespace roc
