// SPDX-License-Identifier: MIT
// Which call of the user's program the calling thread is in: errors name it.
#pragma once

#include <source_location>
#include <type_traits>

#include <roc/config.hpp>

namespace roc::detail {

class call_scope;

/// The outermost call of the library that the calling thread is in; null outside of the library.
/// Not of the faster TLS model initial-exec: a plugin with the static library could not be loaded
/// then.
ROCARRAY_API extern constinit thread_local call_scope const* current_call;

/// The place of a call: the last parameter of public functions, whose default is
/// std::source_location::current(). Braces do not convert to it, so that the last argument of
/// f(x, {}) is still a stream.
struct caller {
  constexpr caller(std::source_location place) noexcept : location(place) {}

  std::source_location location;
};

/// Notes that the thread is in a public function, whose first line creates it. Errors that are
/// constructed in the scope name the outermost scope of the thread. Costs about a nanosecond, in a
/// shared object about ten.
class call_scope {
 public:
  /// Begins the call. Both texts are not copied, so they must be literals.
  ///
  /// @param operation the name of the public function
  /// @param at the caller; unknown for functions that cannot have such a parameter
  /// @param direction such as "host to device"; null if the operation has none
  constexpr explicit call_scope(char const* operation, caller at = std::source_location(),
                                char const* direction = nullptr) noexcept
      : operation_(operation), direction_(direction), location_(at.location) {
    if (std::is_constant_evaluated()) return;
    is_outermost_ = current_call == nullptr;
// GCC does not see in every function that the destructor resets the pointer.
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
    if (is_outermost_) current_call = this;
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  }
  constexpr ~call_scope() {
    if (is_outermost_) current_call = nullptr;
  }
  call_scope(call_scope const&) = delete;
  call_scope& operator=(call_scope const&) = delete;

  char const* operation() const noexcept { return operation_; }
  char const* direction() const noexcept { return direction_; }
  std::source_location location() const noexcept { return location_; }
  /// Returns the path of this header as the caller's file includes it: a location in the same
  /// directories is one of the library, not of the user.
  char const* header() const noexcept { return header_; }

 private:
  char const* operation_;
  char const* direction_;
  char const* header_ = __FILE__;
  std::source_location location_;
  bool is_outermost_ = false;
};

}  // namespace roc::detail
