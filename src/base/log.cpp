// SPDX-License-Identifier: MIT
#include "base/log.hpp"

#include <cstdarg>

namespace roc::base {

void log_line(log_level level, char const* format, ...) noexcept {
  if (!logs(level)) return;
  std::va_list arguments;
  va_start(arguments, format);
  write_line(level, format, arguments);
  va_end(arguments);
}

}  // namespace roc::base
