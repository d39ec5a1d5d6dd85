// SPDX-License-Identifier: MIT
// Errors of collective operations. Included by roc/interop/collectives.hpp.
#pragma once

#include <string>
#include <system_error>

#include <roc/error.hpp>
#include <roc/interop/collectives/library.hpp>

namespace roc {

namespace detail {

class collective_error_category final : public std::error_category {
 public:
  char const* name() const noexcept override { return "collectives"; }
  std::string message(int code) const override {
    return ncclGetErrorString(static_cast<ncclResult_t>(code));
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (code) {
      case ncclInvalidArgument:
      case ncclInvalidUsage: return std::errc::invalid_argument;
      case ncclRemoteError: return std::errc::connection_aborted;
      default: return {code, *this};
    }
  }
};

}  // namespace detail

/// Returns the category of the codes of RCCL and NCCL: the value is the number of the ncclResult_t,
/// and the message is the library's text for it. Codes compare equal to the conditions of the
/// standard that they correspond to: `std::errc::invalid_argument`, and
/// `std::errc::connection_aborted` if another rank has failed or ended.
[[nodiscard]] inline std::error_category const& collective_category() noexcept {
  static detail::collective_error_category const category;
  return category;
}

/// An error of RCCL or NCCL, with its code (category `collective_category()`), its text and the
/// name of the call. Also thrown, with the code `std::errc::invalid_argument`, if ranks disagree
/// about an operation and if arguments do not fit the communicator.
class collective_error : public error {
 public:
  /// Creates an error that rocarray found.
  explicit collective_error(std::string const& problem)
      : error(std::make_error_code(std::errc::invalid_argument), problem) {}
  /// Creates an error that the library reported. `call` must be a string literal.
  collective_error(std::error_code code, std::string const& problem, char const* call)
      : error(code, problem, call) {}

 protected:
  /// Creates an error with a code of the standard.
  collective_error(std::errc code, std::string const& problem)
      : error(std::make_error_code(code), problem) {}
};

/// A wait for other ranks that took longer than collective_options::time_limit. The communicator
/// was aborted. The code is `std::errc::timed_out`.
class collective_timeout_error : public collective_error {
 public:
  /// Creates an error that rocarray found.
  explicit collective_timeout_error(std::string const& problem)
      : collective_error(std::errc::timed_out, problem) {}
};

/// The communicator was aborted earlier: by abort(), after a time limit, or after an error. The
/// message has the reason. The code is `std::errc::operation_canceled`.
class collective_abort_error : public collective_error {
 public:
  /// Creates an error that rocarray found.
  explicit collective_abort_error(std::string const& problem)
      : collective_error(std::errc::operation_canceled, problem) {}
};

namespace detail {

/// Returns an error for the failed `call`, which must be a string literal. `communicator` may be
/// null.
inline collective_error make_collective_error(ncclResult_t result, char const* call,
                                              ncclComm_t communicator) {
  std::string problem = std::string(call) + ": " + ncclGetErrorString(result);
  // The text of the last error is that of the calling thread's last failed call, or empty.
  char const* const details = ncclGetLastError(communicator);
  if (details != nullptr && *details != '\0') problem += std::string(": ") + details;
  return {{static_cast<int>(result), collective_category()}, problem, call};
}

}  // namespace detail
}  // namespace roc
