// SPDX-License-Identifier: MIT
// The error category of HIP's codes.
#include "platform/hip.hpp"

#include <string>
#include <system_error>

#include <roc/error.hpp>

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
      case hipErrorOutOfMemory: return std::errc::not_enough_memory;
      case hipErrorInvalidValue: return std::errc::invalid_argument;
      case hipErrorNoDevice:
      case hipErrorInvalidDevice:
      case hipErrorInsufficientDriver: return std::errc::no_such_device;
      case hipErrorNotSupported: return std::errc::not_supported;
      default: return {code, *this};
    }
  }
};

}  // namespace

std::error_category const& hip_category() noexcept {
  static category const instance;
  return instance;
}

}  // namespace roc
