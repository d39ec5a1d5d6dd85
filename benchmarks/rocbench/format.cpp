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

// Three digits at least, whatever the link's speed.
std::string format_rate(double bytes_a_second) {
  double const rate = bytes_a_second * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 1 ? 4 : rate < 100 ? 2 : 1);
}

std::string format_time(double seconds) {
  constexpr char const* units[] = {"ns", "µs", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

std::string format_share(double share) {
  return fmt::format("{:.0f} %{}", 100 * share, share > 1 ? " !" : "");
}

std::string text_bar(double share) {
  constexpr std::size_t length = 10;
  auto const full =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * double{length}));
  return fmt::format("[{:#<{}}{:{}}]", "", full, "", length - full);
}

}  // namespace rocbench
