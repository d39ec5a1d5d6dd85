// SPDX-License-Identifier: MIT
// Rates that cases must reach, from a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comparison.hpp"

namespace rocbench {

enum class threshold_unit : unsigned char { rate, of_limit, of_before };

/// A line "h2d/* 50 GB/s", "d2h/* 90 % of limit" or "raw/* 97 % of before".
struct threshold {
  std::string cases;  ///< a glob
  double least;       ///< bytes a second, or a share
  threshold_unit unit;
  std::string line;  ///< as it was written
};

/// Lines that are empty or begin with # are none. Throws input_error.
std::vector<threshold> parse_thresholds(std::string_view text, std::string const& name);
std::vector<threshold> read_thresholds(std::string const& path);

struct threshold_verdict {
  std::vector<std::string> below;      ///< cases that do not reach theirs, and by how much
  std::vector<std::string> unchecked;  ///< thresholds that say nothing about these runs, and why
};

/// Holds medians against the thresholds. Several for one case all hold.
threshold_verdict check_thresholds(std::vector<threshold> const& all, comparison const& runs);

}  // namespace rocbench
