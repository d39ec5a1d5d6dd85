// SPDX-License-Identifier: MIT
// Shared by all functions of the C interface: turns errors into a status and a message of the
// calling thread, and checks arguments.
#pragma once

#include <cstdint>
#include <string>

#include <roc/c.h>
#include <roc/detail/call_scope.hpp>

namespace roc::c_interface {

/// Stores the exception that is being handled as the calling thread's last error, and returns its
/// status. Does not allocate.
roc_status store_current_exception() noexcept;

/// Calls f() as the function of the C interface with this name, which its error messages begin
/// with.
template <class F>
roc_status run(char const* name, F f) noexcept {
  try {
    detail::call_scope const call(name);
    f();
    return ROCARRAY_SUCCESS;
  } catch (...) {
    return store_current_exception();
  }
}

/// Throws roc::error (std::errc::invalid_argument).
[[noreturn]] void throw_invalid(std::string const& message);
/// Throws roc::error if a parameter is null.
void require(void const* pointer, char const* parameter);
/// Throws roc::error if there are flags that are not known. `type` is the name of the enumeration.
void check_flags(std::uint32_t flags, std::uint32_t known, char const* type);

}  // namespace roc::c_interface
