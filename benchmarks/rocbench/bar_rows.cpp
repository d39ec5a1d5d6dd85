// SPDX-License-Identifier: MIT
#include "bar_rows.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "html.hpp"

namespace rocbench {
namespace {

// The drawing is 1000 wide and 20 high. Fractions outside [0, 1] are cut off.
std::string rectangle(char const* css_class, double begin_fraction, double end_fraction, double top,
                      double height) {
  double const begin = 1000 * std::clamp(begin_fraction, 0.0, 1.0);
  double const end = 1000 * std::clamp(end_fraction, 0.0, 1.0);
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                     css_class, begin, top, std::max(end - begin, 0.0), height);
}

std::string html_row(std::string const& name, std::string const& note, std::string const& value,
                     std::string const& detail, std::string const& drawing) {
  return fmt::format(
      "<div class=\"row\"><div class=\"name\">{} <small>{}</small></div>"
      "<svg class=\"bar\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">{}</svg><div class=\"value\"><b>{}</b> {}</div></div>\n",
      escape_html(name), escape_html(note), escape_html(value + " " + detail), drawing,
      escape_html(value), escape_html(detail));
}

}  // namespace

std::string html_bar_row(bar_row const& row) {
  std::string drawing = rectangle("track", 0, 1, 0, 20);
  if (row.library) drawing += rectangle("library", 0, *row.library, 1, row.raw ? 11 : 18);
  if (row.low && row.high)
    drawing += rectangle("spread", *row.low, *row.high, row.raw ? 6 : 9, 1.5);
  if (row.raw) drawing += rectangle("raw", 0, *row.raw, 13, 6);
  return html_row(row.name, row.note, row.value, row.detail, drawing);
}

std::string html_change_row(std::string const& name, std::string const& note,
                            std::string const& value, std::string const& detail, double low,
                            double high, double reach, std::string const& bar_class) {
  // At least half a percent of the width, so that a narrow range is visible.
  auto const fraction_of = [&](double change) { return 0.5 + change / reach / 2; };
  double const middle = std::clamp((fraction_of(low) + fraction_of(high)) / 2, 0.0, 1.0);
  double const begin = std::isfinite(middle) ? std::min(fraction_of(low), middle - 0.0025) : 0;
  double const end = std::isfinite(middle) ? std::max(fraction_of(high), middle + 0.0025) : 1;
  std::string const drawing = rectangle("track", 0, 1, 0, 20) +
                              rectangle(bar_class.c_str(), begin, end, 4, 12) +
                              rectangle("zero", 0.499, 0.501, 0, 20);
  return html_row(name, note, value, detail, drawing);
}

}  // namespace rocbench
