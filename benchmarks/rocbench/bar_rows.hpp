// SPDX-License-Identifier: MIT
// Rows of a name, a bar and the figure in words. Bars stretch with the window, texts do not.
#pragma once

#include <optional>
#include <string>

namespace rocbench {

/// Shares of the row's whole width; more than 1 is cut off there.
struct bar_row {
  std::string name;
  std::string note;   ///< small, below the name
  std::string value;  ///< the figure, emphasised
  std::string more;   ///< behind it
  std::optional<double> library;
  std::optional<double> low;  ///< of the spread, with `high`
  std::optional<double> high;
  std::optional<double> raw;  ///< of HIP's own call, below the other
};

/// As HTML; texts are escaped.
std::string html_bar_row(bar_row const& of);

/// A range of change around 0 in the middle, `reach` at the ends; `kind` is its colour's class.
std::string html_change_row(std::string const& name, std::string const& note,
                            std::string const& value, std::string const& more, double low,
                            double high, double reach, std::string const& kind);

}  // namespace rocbench
