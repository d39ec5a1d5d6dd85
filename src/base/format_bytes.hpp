// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace roc::base {

/// Returns a size for messages: "9000 bytes" below 10 KiB, and "1.5 MiB" above, with four
/// significant digits. The unit is the largest of KiB, MiB, GiB and TiB that does not exceed the
/// size.
inline std::string format_bytes(std::size_t bytes) {
  if (bytes < 10 * 1024) return std::to_string(bytes) + " bytes";
  char const* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, value < 10'000 ? "%.4g %s" : "%.0f %s", value, units[unit]);
  return text;
}

}  // namespace roc::base
