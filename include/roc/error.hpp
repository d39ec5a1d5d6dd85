// SPDX-License-Identifier: MIT
// The errors that the library throws. All derive from roc::error, which is a std::system_error.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <system_error>

#include <roc/config.hpp>

namespace roc {

/// Returns the category of HIP's error codes: the value is the number of the hipError_t, and the
/// message is HIP's text for it. Codes compare equal to the conditions of the standard that they
/// correspond to (`error.code() == std::errc::not_enough_memory`).
ROCARRAY_API std::error_category const& hip_category() noexcept;

/// The base of all errors of the library.
///
/// `what()` reads: the operation that the program called, its direction if it is a copy, and where;
/// what is wrong, with values; what to do. For example "copy_to_host (device to host) at
/// main.cpp:12: incompatible shape: device (2, 3), host (3, 2)". Errors of the HIP runtime have its
/// code (category `hip_category()`) and the name of the call. Errors that the library finds itself
/// have a code of `std::generic_category()` and no call.
class ROCARRAY_API error : public std::system_error {
 public:
  /// Creates an error. `call` is not copied, so it must be a string literal. If the thread is in a
  /// public function of the library, the message and the location are those of the function's
  /// caller.
  error(std::error_code code, std::string const& problem, char const* call = "",
        std::source_location place = {});

  /// Returns the message.
  char const* what() const noexcept override { return message_.what(); }
  /// Returns the HIP call that failed, for example "hipMalloc"; empty if the library found the
  /// error itself.
  char const* call() const noexcept { return call_; }
  /// Returns the location of the program's call of the library. If the called function has no
  /// parameter for it (index expressions and other lists of any length), returns that of the
  /// failing HIP call in the library's source, or line 0 if the library found the error itself.
  std::source_location location() const noexcept { return location_; }

 private:
  // std::system_error would append the code's text to the message. A runtime_error is the only
  // string of the standard library whose copies do not throw.
  std::runtime_error message_;
  char const* call_;
  std::source_location location_;
};

/// Device or pinned host memory is exhausted. The code equals `std::errc::not_enough_memory`.
///
/// It is no std::bad_alloc: it would then have two bases of type std::exception, and
/// `catch (std::exception const&)` would not catch it.
class ROCARRAY_API out_of_memory : public error {
 public:
  using error::error;  ///< See error.
};

/// Shapes, ranks, sizes or indices do not match or are out of bounds, or a size overflows.
class ROCARRAY_API shape_error : public error {
 public:
  /// Creates an error with this message.
  explicit shape_error(std::string const& problem);
};

/// A layout does not allow the operation: a reshape needs a copy, or strides overlap.
class ROCARRAY_API layout_error : public error {
 public:
  /// Creates an error with this message.
  explicit layout_error(std::string const& problem);
};

/// Source and destination of a copy share memory.
class ROCARRAY_API overlap_error : public error {
 public:
  /// Creates an error with this message.
  explicit overlap_error(std::string const& problem);
};

/// A range overlaps a registered one, is not registered, or is not of the required kind of host
/// memory.
class ROCARRAY_API registration_error : public error {
 public:
  /// Creates an error with this message.
  explicit registration_error(std::string const& problem);
};

/// An object was used after it was moved from or released, or before it was given a value.
class ROCARRAY_API lifetime_error : public error {
 public:
  /// Creates an error with this message.
  explicit lifetime_error(std::string const& problem);
};

/// A DLPack tensor cannot be used as requested: wrong device, wrong or unknown element type,
/// read-only, or unknown major version.
class ROCARRAY_API dlpack_error : public error {
 public:
  /// Creates an error with this message.
  explicit dlpack_error(std::string const& problem);
};

/// An array or an event cannot be shared with another process, or its handle cannot be opened here.
/// The code tells the cause: see roc/ipc.hpp.
class ROCARRAY_API ipc_error : public error {
 public:
  using error::error;  ///< See error.
  /// Creates an error that the library has found itself.
  ipc_error(std::errc cause, std::string const& problem);
};

/// A function that receives late errors: errors that cannot be thrown, because they occur in a
/// destructor or after their scope has ended. It is called from any thread and must not throw.
///
/// All other messages go to stderr, one per line, filtered by options::log.
using log_hook = void (*)(char const* message) noexcept;

/// Sets the receiver of late errors and returns the previous one. Null restores the default, which
/// writes one line to stderr unless options::log is `off`.
ROCARRAY_API log_hook set_log_hook(log_hook hook) noexcept;

}  // namespace roc
