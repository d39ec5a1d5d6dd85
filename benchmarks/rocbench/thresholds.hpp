// SPDX-License-Identifier: MIT
// Minimal rates of cases, from a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comparison.hpp"

namespace rocbench {

enum class threshold_unit : unsigned char { rate, of_limit, of_before };

/// One line of the file, such as "h2d/* 50 GB/s", "d2h/* 90 % of limit" or "raw/* 97 % of before".
struct threshold {
  std::string cases;  ///< glob
  double minimum;     ///< bytes per second, or a fraction
  threshold_unit unit;
  std::string line;  ///< the text of the line
};

/// Parses the lines of a file. Ignores empty lines and lines that start with #. Throws input_error.
/// @param name name of the file in error messages
std::vector<threshold> parse_thresholds(std::string_view text, std::string const& name);
/// Reads a file and parses its lines. Throws input_error.
std::vector<threshold> read_thresholds(std::string const& path);

struct threshold_results {
  std::vector<std::string> below;      ///< descriptions of the cases below their threshold
  std::vector<std::string> unchecked;  ///< descriptions of the thresholds that no case applies to
};

/// Compares the measured rates with the thresholds. If several apply to a case, it must reach all.
threshold_results check_thresholds(std::vector<threshold> const& thresholds,
                                   comparison const& runs);

}  // namespace rocbench
