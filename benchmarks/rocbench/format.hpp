// SPDX-License-Identifier: MIT
// Formats numbers, lists and lines for tables and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rocbench {

/// Returns a size with a binary unit: "256 MiB", "1.5 KiB", "17 B".
std::string format_size(std::uint64_t bytes);
/// Returns a rate in GB/s without the unit: "55.44", "0.0123".
std::string format_rate(double bytes_per_second);
/// Returns a time with a unit chosen by its magnitude: "12.3 µs", "4.56 ms".
std::string format_time(double seconds);
/// Returns a fraction as a percentage: "87 %". Marks fractions above 1: "104 % !".
std::string format_fraction(double fraction);
/// Returns the words of a text in lines of at most `columns`. The first line begins at
/// `first_column`, the others are indented.
std::string wrapped(std::string const& text, std::size_t columns, std::size_t first_column,
                    std::size_t indent);
/// Returns the first five names: "a, b, c, d, e and 2 more".
std::string join_names(std::vector<std::string> const& names);

}  // namespace rocbench
