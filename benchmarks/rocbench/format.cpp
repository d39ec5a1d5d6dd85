// SPDX-License-Identifier: MIT
#include "format.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace rocbench {

std::string format_size(std::uint64_t bytes) {
  constexpr char const* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
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

std::string wrapped(std::string const& text, std::size_t columns, std::size_t first_column,
                    std::size_t indent) {
  std::string result;
  std::size_t column = first_column;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!result.empty()) {
      bool const fits = column + 1 + word.size() <= columns;
      result += fits ? " " : "\n" + std::string(indent, ' ');
      column = fits ? column + 1 : indent;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string join_names(std::vector<std::string> const& names) {
  constexpr std::size_t max_names = 5;
  std::size_t const listed = std::min(names.size(), max_names);
  std::string result = fmt::format("{}", fmt::join(names.data(), names.data() + listed, ", "));
  if (names.size() > listed) result += fmt::format(" and {} more", names.size() - listed);
  return result;
}

}  // namespace rocbench
