// SPDX-License-Identifier: MIT
// The errors that the library throws. All derive from roc::error, and so from std::system_error
// and std::exception.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <system_error>

#include <roc/config.hpp>

namespace roc {

/// The category of the error codes of HIP: the value is the number of the hipError_t, the message
/// HIP's text for it. Codes compare equal to the standard's conditions where there is one
/// (`error.code() == std::errc::not_enough_memory`).
ROCARRAY_API std::error_category const& hip_category() noexcept;

/// What every error of the library derives from.
///
/// `what()` reads: problem (values) and what to do. Errors of the HIP runtime carry its code
/// (category `hip_category()`), the name of the call and the place in the library that made it;
/// errors found by the library itself carry a code of `std::generic_category()` and no call.
class ROCARRAY_API error : public std::system_error {
 public:
  /// `call` is not copied: a literal.
  error(std::error_code code, std::string const& problem, char const* call = "",
        std::source_location place = {});

  /// The whole message, with what to do.
  char const* what() const noexcept override { return message_.what(); }
  /// The HIP call that failed, "hipMalloc" for example; empty where the library found the error.
  char const* call() const noexcept { return call_; }
  /// Where in the library's source the failing call was made; line 0 where there was no call.
  std::source_location place() const noexcept { return place_; }

 private:
  // std::system_error would append the code's text to the message; a runtime_error is the
  // standard's own string whose copies do not throw.
  std::runtime_error message_;
  char const* call_;
  std::source_location place_;
};

/// Device or pinned host memory has run out. Its code equals `std::errc::not_enough_memory`.
///
/// Not a std::bad_alloc: an object that was one besides being a roc::error would hold two
/// std::exception parts, and `catch (std::exception const&)` would then not catch it at all.
class ROCARRAY_API out_of_memory : public error {
 public:
  using error::error;  ///< made as any error
};

/// Shapes, ranks, sizes or indices that do not fit each other, or that no memory could hold.
class ROCARRAY_API shape_error : public error {
 public:
  /// With the whole message.
  explicit shape_error(std::string const& problem);
};

/// A layout that cannot do what was asked: a reshape that needs a copy, strides that overlap.
class ROCARRAY_API layout_error : public error {
 public:
  /// With the whole message.
  explicit layout_error(std::string const& problem);
};

/// Source and destination of a copy share memory.
class ROCARRAY_API overlap_error : public error {
 public:
  /// With the whole message.
  explicit overlap_error(std::string const& problem);
};

/// Registration of a range that overlaps a registered one, or deregistration of an unknown one.
class ROCARRAY_API registration_error : public error {
 public:
  /// With the whole message.
  explicit registration_error(std::string const& problem);
};

/// Use of an object that owns nothing any more: moved from, released, or never given a value.
class ROCARRAY_API lifetime_error : public error {
 public:
  /// With the whole message.
  explicit lifetime_error(std::string const& problem);
};

/// What receives errors that nobody can catch: those found in destructors, or after the scope
/// that caused them has gone. Called from any thread; must not throw.
///
/// What else the library has to say goes to stderr, a line each, by the level in the environment's
/// ROCARRAY_LOG: `off`, `error` (late errors), `warning` (the default: settings that cannot be used,
/// leaks), `info` (memory taken for staging, a profiler), `debug` (allocations, streams), `trace`
/// (every copy and fill); each level includes those before it.
using log_hook = void (*)(char const* message) noexcept;

/// Sets the receiver of late errors and returns the one before. Null restores the default, which
/// writes one line to stderr unless ROCARRAY_LOG=off is in the environment.
ROCARRAY_API log_hook set_log_hook(log_hook hook) noexcept;

}  // namespace roc
