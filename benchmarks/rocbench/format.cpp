// SPDX-License-Identifier: MIT
#include "format.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace rocbench {

std::string format_size(double bytes) {
  constexpr char const* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

// Prints at least three significant digits from 1 MB/s on.
std::string format_rate(double bytes_per_second) {
  double const rate = bytes_per_second * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 1 ? 4 : rate < 100 ? 2 : 1);
}

std::string format_time(double seconds) {
  constexpr char const* units[] = {"ns", "µs", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

std::string format_fraction(double fraction) {
  return fmt::format("{:.0f} %{}", 100 * fraction, fraction > 1 ? " !" : "");
}

std::string text_bar(double fraction) {
  constexpr std::size_t length = 10;
  auto const filled =
      static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * double{length}));
  return fmt::format("[{:#<{}}{:{}}]", "", filled, "", length - filled);
}

}  // namespace rocbench
