// SPDX-License-Identifier: MIT
// Reporting of errors that no caller can catch.
#pragma once

#include <source_location>
#include <string>

#include <roc/error.hpp>

namespace roc::base {

/// Passes an error to the log hook (roc::set_log_hook), on the calling thread. Destructors and
/// threads of the library or the runtime use it, because no caller can catch their exceptions. The
/// default hook writes the message to stderr, unless the log level is `off`.
void log_error(char const* message) noexcept;
inline void log_error(std::string const& message) noexcept { log_error(message.c_str()); }

/// Returns the location of the program's call that the calling thread is in. The line is 0 if it is
/// unknown or in the library itself, whose functions call each other.
std::source_location location_of_caller() noexcept;

}  // namespace roc::base
