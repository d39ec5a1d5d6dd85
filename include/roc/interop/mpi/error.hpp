// SPDX-License-Identifier: MIT
// MPI's header, and errors of MPI. Included by roc/interop/mpi.hpp.
#pragma once

// Without MPI's C++ bindings, which were removed from the standard: they would need another
// library.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstddef>
#include <string>
#include <system_error>

#include <roc/error.hpp>

namespace roc {

namespace detail {

/// The text of MPI_Error_string, which may be called before MPI_Init and after MPI_Finalize.
inline std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) {
    return "MPI error " + std::to_string(code);
  }
  return {text, static_cast<std::size_t>(length)};
}

class mpi_error_category final : public std::error_category {
 public:
  char const* name() const noexcept override { return "mpi"; }
  std::string message(int code) const override { return mpi_text(code); }
  std::error_condition default_error_condition(int code) const noexcept override {
    int error_class = MPI_ERR_OTHER;
    if (MPI_Error_class(code, &error_class) != MPI_SUCCESS) return {code, *this};
    switch (error_class) {
      case MPI_ERR_NO_MEM: return std::errc::not_enough_memory;
      case MPI_ERR_TRUNCATE: return std::errc::message_size;
      case MPI_ERR_ARG:
      case MPI_ERR_BUFFER:
      case MPI_ERR_COMM:
      case MPI_ERR_COUNT:
      case MPI_ERR_OP:
      case MPI_ERR_RANK:
      case MPI_ERR_ROOT:
      case MPI_ERR_TAG:
      case MPI_ERR_TYPE: return std::errc::invalid_argument;
      default: return {code, *this};
    }
  }
};

}  // namespace detail

/// Returns the category of MPI's error codes: the value is MPI's code, and the message is the text
/// of MPI_Error_string. Codes compare equal to the conditions of the standard that they correspond
/// to, for example `std::errc::not_enough_memory`.
[[nodiscard]] inline std::error_category const& mpi_category() noexcept {
  static detail::mpi_error_category const category;
  return category;
}

/// An error that MPI reports, with its code (category `mpi_category()`), its text and the name of
/// the call. Also thrown, with the code `std::errc::invalid_argument`, if ranks disagree about an
/// operation, and if the arguments or the thread do not fit MPI's rules.
class mpi_error : public error {
 public:
  /// Creates an error that the library found.
  explicit mpi_error(std::string const& problem)
      : error(std::make_error_code(std::errc::invalid_argument), problem) {}
  /// Creates an error that MPI reported. `call` must be a string literal.
  mpi_error(int code, char const* call)
      : error({code, mpi_category()}, std::string(call) + ": " + detail::mpi_text(code), call) {}

 protected:
  /// Creates an error with a code of the standard.
  mpi_error(std::errc code, std::string const& problem)
      : error(std::make_error_code(code), problem) {}
};

/// A wait that took longer than mpi_options::time_limit. The code is `std::errc::timed_out`.
class mpi_timeout_error : public mpi_error {
 public:
  /// Creates an error that the library found.
  explicit mpi_timeout_error(std::string const& problem)
      : mpi_error(std::errc::timed_out, problem) {}
};

namespace detail {

/// Throws mpi_error if an MPI call failed. `call` must be a string literal.
inline void check_mpi(int code, char const* call) {
  if (code != MPI_SUCCESS) throw mpi_error(code, call);
}

/// Returns true between MPI_Init and MPI_Finalize.
inline bool is_mpi_running() noexcept {
  int initialized = 0;
  int finalized = 0;
  return MPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
         MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
}

}  // namespace detail
}  // namespace roc
