// SPDX-License-Identifier: MIT
// Report rows of a name, a bar and a figure. Bars stretch with the window, text does not.
#pragma once

#include <optional>
#include <string>

namespace rocbench {

/// A row with one or two bars. Lengths are fractions of the row's width; more than 1 is cut off.
struct bar_row {
  std::string name;
  std::string note;    ///< in small type below the name
  std::string value;   ///< the figure, emphasized
  std::string detail;  ///< after the figure
  std::optional<double> library;
  std::optional<double> low;   ///< 5th percentile; drawn if both percentiles are set
  std::optional<double> high;  ///< 95th percentile
  std::optional<double> raw;   ///< second bar, below the first
};

/// Returns the row as HTML; all texts are escaped.
std::string html_bar_row(bar_row const& row);

/// Returns a row, as HTML, with a bar from `low` to `high` on an axis from -`reach` to `reach`.
/// @param bar_class CSS class of the bar
std::string html_change_row(std::string const& name, std::string const& note,
                            std::string const& value, std::string const& detail, double low,
                            double high, double reach, std::string const& bar_class);

}  // namespace rocbench
