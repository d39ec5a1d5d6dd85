// SPDX-License-Identifier: MIT
#include "bar_rows.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "html.hpp"

namespace rocbench {
namespace {

// Of a drawing that is 1000 wide and 20 high.
std::string rectangle(char const* kind, double from, double to, double top, double height) {
  double const begin = 1000 * std::clamp(from, 0.0, 1.0);
  double const end = 1000 * std::clamp(to, 0.0, 1.0);
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                     kind, begin, top, std::max(end - begin, 0.0), height);
}

std::string row(std::string const& name, std::string const& note, std::string const& value,
                std::string const& more, std::string const& drawing) {
  return fmt::format(
      "<div class=\"row\"><div class=\"name\">{} <small>{}</small></div>"
      "<svg class=\"bar\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">{}</svg><div class=\"value\"><b>{}</b> {}</div></div>\n",
      escape_html(name), escape_html(note), escape_html(value + " " + more), drawing,
      escape_html(value), escape_html(more));
}

}  // namespace

std::string html_bar_row(bar_row const& of) {
  std::string drawing = rectangle("track", 0, 1, 0, 20);
  if (of.library) drawing += rectangle("library", 0, *of.library, 1, of.raw ? 11 : 18);
  if (of.low && of.high) drawing += rectangle("spread", *of.low, *of.high, of.raw ? 6 : 9, 1.5);
  if (of.raw) drawing += rectangle("raw", 0, *of.raw, 13, 6);
  return row(of.name, of.note, of.value, of.more, drawing);
}

std::string html_change_row(std::string const& name, std::string const& note,
                            std::string const& value, std::string const& more, double low,
                            double high, double reach, std::string const& kind) {
  // Half a percent of the width at least, so that a narrow range is seen.
  auto const place = [&](double change) { return 0.5 + change / reach / 2; };
  double const middle = std::clamp((place(low) + place(high)) / 2, 0.0, 1.0);
  double const begin = std::isfinite(middle) ? std::min(place(low), middle - 0.0025) : 0;
  double const end = std::isfinite(middle) ? std::max(place(high), middle + 0.0025) : 1;
  std::string const drawing = rectangle("track", 0, 1, 0, 20) +
                              rectangle(kind.c_str(), begin, end, 4, 12) +
                              rectangle("zero", 0.499, 0.501, 0, 20);
  return row(name, note, value, more, drawing);
}

}  // namespace rocbench
