// SPDX-License-Identifier: MIT
// Diagnostics on stderr, filtered by options::log. Errors that no caller can catch go to the log
// hook instead (base/error.hpp); its default writes them to stderr, except at level `off`.
#pragma once

#include "base/options.hpp"

namespace roc::base {

using roc::log_level;

/// Returns true if messages of this level are written.
inline bool logs(log_level level) noexcept { return level <= options().log; }

/// Writes the line "rocarray: <level>: <message>" if messages of this level are written. The format
/// is printf's; messages over 1023 bytes are truncated. Lines of several threads do not mix.
[[gnu::format(printf, 2, 3)]] void log_line(log_level level, char const* format, ...) noexcept;

}  // namespace roc::base
