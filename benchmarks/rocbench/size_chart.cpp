// SPDX-License-Identifier: MIT
#include "size_chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "format.hpp"
#include "html.hpp"

namespace rocbench {
namespace {

constexpr double width = 380;
constexpr double height = 250;
constexpr double left = 44;
constexpr double right = 8;
constexpr double top = 26;
constexpr double bottom = 24;

using points = std::vector<case_result const*>;

double rate_of(case_result const* of) { return of->measured.shown_rate(); }

// Sizes on a logarithmic axis, rates on one from zero.
struct axes {
  double first;
  double last;
  double highest;

  double x(std::size_t bytes) const {
    double const place = (std::log2(static_cast<double>(bytes)) - first) / (last - first);
    return left + place * (width - left - right);
  }
  double y(double rate) const { return height - bottom - rate / highest * (height - top - bottom); }
};

axes axes_of(points const& all, std::optional<double> limit) {
  axes result{1e9, -1e9, limit.value_or(0)};
  for (case_result const* each : all) {
    double const place = std::log2(static_cast<double>(std::max(each->bytes, std::size_t{1})));
    result.first = std::min(result.first, place);
    result.last = std::max(result.last, place);
    result.highest = std::max(result.highest, each->measured.rate.p95);
  }
  if (result.last <= result.first) result.last = result.first + 1;
  result.highest *= 1.05;
  return result;
}

// A step of 1, 2 or 5 times a power of ten that gives about four of them.
double step_of(double highest) {
  double const rough = highest / 4;
  double const power = std::pow(10, std::floor(std::log10(rough)));
  for (double const factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string draw_axes(axes const& in, points const& sizes) {
  std::string result;
  double const step = step_of(in.highest * 1e-9);
  for (int i = 0; i * step <= in.highest * 1e-9 && i < 20; ++i) {
    double const y = in.y(i * step * 1e9);
    result += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>",
        left, width - right, y, y, left - 5, y + 4, i * step);
  }
  // As many sizes as have room.
  double free_from = 0;
  for (case_result const* each : sizes) {
    double const x = in.x(each->bytes);
    if (x < free_from) continue;
    free_from = x + 62;
    result += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>", x, height - 7,
                          x > width - 40  ? "end"
                          : x < left + 10 ? "start"
                                          : "middle",
                          format_size(static_cast<double>(each->bytes)));
  }
  return result;
}

std::string draw_line(axes const& in, points const& of, char const* kind) {
  if (of.empty()) return "";
  std::string places;
  std::string dots;
  for (case_result const* each : of) {
    double const x = in.x(each->bytes);
    double const y = in.y(rate_of(each));
    places += fmt::format("{:.1f},{:.1f} ", x, y);
    dots += fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {} GB/s, {}</title>"
        "</circle>",
        kind, x, y, format_size(static_cast<double>(each->bytes)), format_rate(rate_of(each)),
        escape_html(each->path));
  }
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>{}", kind, places, dots);
}

std::string draw_switches(axes const& in, points const& of) {
  std::string result;
  std::string before;
  double free_from = 0;
  for (case_result const* each : of) {
    if (each->path == before) continue;
    before = each->path;
    double const x = in.x(each->bytes);
    result += fmt::format(
        "<line class=\"switch\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" "
        "y2=\"{2}\"/>",
        x, top, height - bottom);
    bool const late = x > width - 60;
    double const begin = std::max(late ? x - 40 : x + 3, free_from);
    free_from = begin + 7 * static_cast<double>(before.size());
    result +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", begin, top - 4, escape_html(before));
  }
  return result;
}

}  // namespace

std::string svg_size_chart(points const& library, points const& raw) {
  points all = library;
  all.insert(all.end(), raw.begin(), raw.end());
  limit const& physical = all.front()->physical;
  axes const in = axes_of(all, physical.rate);
  std::string result = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: GB/s over size\">"
      "<text x=\"0\" y=\"11\">GB/s</text>",
      width, height, escape_html(all.front()->name));
  result += draw_axes(in, library.empty() ? raw : library);
  result += draw_switches(in, library);
  result += draw_line(in, raw, "raw") + draw_line(in, library, "library");
  if (physical.rate) {
    double const y = in.y(*physical.rate);
    result += fmt::format(
        "<line class=\"limit\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"limit\" x=\"{}\" y=\"{:.1f}\">limit {} ({})</text>",
        left, width - right, y, y, left + 6, y - 4, format_rate(*physical.rate),
        escape_html(physical.origin));
  }
  return result + "</svg>\n";
}

}  // namespace rocbench
