// SPDX-License-Identifier: MIT
// Inside the library: where late errors go.
#pragma once

#include <string>

#include <roc/error.hpp>

namespace roc::base {

/// Hands a late error to the log hook.
void log(char const* message) noexcept;
inline void log(std::string const& message) noexcept { log(message.c_str()); }

}  // namespace roc::base
