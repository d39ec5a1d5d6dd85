// SPDX-License-Identifier: MIT
// Formats numbers, lists and lines for tables and reports. Exit codes and error messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocbench {

enum class exit_code : int {
  ok = 0,
  usage = 1,           ///< wrong command line, unusable file, or a call that failed
  mismatch = 2,        ///< wrong data
  regression = 3,      ///< slower than before, below a threshold, or a fault found by doctor
  noisy = 4,           ///< a case is noisy; only with --strict
  nothing_to_run = 5,  ///< no device, or no matching case
  skipped = 77,        ///< the device supports none of the cases
  interrupted = 130,   ///< the code that shells use for a process ended by Ctrl-C
};

/// Prints "rocbench: MESSAGE" to standard error and returns `code`.
inline exit_code fail(exit_code code, std::string const& message) {
  fmt::print(stderr, "rocbench: {}\n", message);
  return code;
}

/// Returns a size with a binary unit: "256 MiB", "1.5 KiB", "17 B".
inline std::string format_size(std::uint64_t bytes) {
  constexpr char const* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

/// Returns a size in the form of the options, rounded down to MiB: "6025M". From 1 MiB on; smaller
/// sizes are exact.
inline std::string format_size_option(std::uint64_t bytes) {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  return bytes < mebi ? fmt::format("{}", bytes) : fmt::format("{}M", bytes / mebi);
}

/// Returns a rate in GB/s without the unit: "55.44", "0.0123". From 1 MB/s
/// on it has at least three significant digits.
inline std::string format_rate(double bytes_per_second) {
  double const rate = bytes_per_second * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 1 ? 4 : rate < 100 ? 2 : 1);
}

/// Returns a time with a unit chosen by its magnitude: "12.3 µs", "4.56 ms".
inline std::string format_time(double seconds) {
  constexpr char const* units[] = {"ns", "µs", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

/// Returns a fraction as a percentage: "87 %". Marks fractions above 1: "104 % !".
inline std::string format_fraction(double fraction) {
  return fmt::format("{:.0f} %{}", 100 * fraction, fraction > 1 ? " !" : "");
}

/// Returns the words of a text in lines of at most `columns`. The first line begins at
/// `first_column`, the others are indented.
inline std::string wrapped(std::string const& text, std::size_t columns, std::size_t first_column,
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

/// Returns the first five names: "a, b, c, d, e and 2 more".
inline std::string join_names(std::vector<std::string> const& names) {
  constexpr std::size_t max_names = 5;
  std::size_t const listed = std::min(names.size(), max_names);
  std::string result = fmt::format("{}", fmt::join(names.data(), names.data() + listed, ", "));
  if (names.size() > listed) result += fmt::format(" and {} more", names.size() - listed);
  return result;
}

}  // namespace rocbench
