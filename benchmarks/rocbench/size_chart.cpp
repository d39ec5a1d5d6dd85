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

// Results of one case by ascending size.
using points = std::vector<case_result const*>;

double rate_of(case_result const* result) { return result->measured.reported_rate(); }

// A logarithmic axis of sizes, and a linear axis of rates that starts at zero.
struct axes {
  double first;    // smallest size, as a power of two
  double last;     // largest size, as a power of two
  double highest;  // rate at the top, bytes per second

  double x(std::size_t bytes) const {
    double const position = (std::log2(static_cast<double>(bytes)) - first) / (last - first);
    return left + position * (width - left - right);
  }
  double y(double rate) const { return height - bottom - rate / highest * (height - top - bottom); }
};

axes make_axes(points const& results, std::optional<double> limit) {
  axes result{1e9, -1e9, limit.value_or(0)};
  for (case_result const* point : results) {
    double const position = std::log2(static_cast<double>(std::max(point->bytes, std::size_t{1})));
    result.first = std::min(result.first, position);
    result.last = std::max(result.last, position);
    result.highest = std::max(result.highest, point->measured.rate.p95);
  }
  if (result.last <= result.first) result.last = result.first + 1;
  result.highest *= 1.05;
  return result;
}

// Returns a step of 1, 2 or 5 times a power of ten that divides the axis into about four parts.
double tick_step(double highest) {
  double const rough = highest / 4;
  double const power = std::pow(10, std::floor(std::log10(rough)));
  for (double const factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string draw_axes(axes const& scale, points const& sizes) {
  std::string result;
  double const step = tick_step(scale.highest * 1e-9);
  for (int i = 0; i * step <= scale.highest * 1e-9 && i < 20; ++i) {
    double const y = scale.y(i * step * 1e9);
    result += fmt::format(
        "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>",
        left, width - right, y, y, left - 5, y + 4, i * step);
  }
  // Labels of sizes, without those that would overlap.
  double next_free_x = 0;
  for (case_result const* point : sizes) {
    double const x = scale.x(point->bytes);
    if (x < next_free_x) continue;
    next_free_x = x + 62;
    result += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>", x, height - 7,
                          x > width - 40  ? "end"
                          : x < left + 10 ? "start"
                                          : "middle",
                          format_size(static_cast<double>(point->bytes)));
  }
  return result;
}

std::string draw_line(axes const& scale, points const& results, char const* css_class) {
  if (results.empty()) return "";
  std::string coordinates;
  std::string dots;
  for (case_result const* point : results) {
    double const x = scale.x(point->bytes);
    double const y = scale.y(rate_of(point));
    coordinates += fmt::format("{:.1f},{:.1f} ", x, y);
    dots += fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {} GB/s, {}</title>"
        "</circle>",
        css_class, x, y, format_size(static_cast<double>(point->bytes)),
        format_rate(rate_of(point)), escape_html(point->path));
  }
  return fmt::format("<polyline class=\"line {}\" points=\"{}\"/>{}", css_class, coordinates, dots);
}

std::string draw_path_changes(axes const& scale, points const& results) {
  std::string result;
  std::string previous_path;
  double next_free_x = 0;
  for (case_result const* point : results) {
    if (point->path == previous_path) continue;
    previous_path = point->path;
    double const x = scale.x(point->bytes);
    result += fmt::format(
        "<line class=\"switch\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" "
        "y2=\"{2}\"/>",
        x, top, height - bottom);
    bool const near_right_edge = x > width - 60;
    double const begin = std::max(near_right_edge ? x - 40 : x + 3, next_free_x);
    next_free_x = begin + 7 * static_cast<double>(previous_path.size());
    result += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", begin, top - 4,
                          escape_html(previous_path));
  }
  return result;
}

}  // namespace

std::string svg_size_chart(points const& library, points const& raw) {
  points all = library;
  all.insert(all.end(), raw.begin(), raw.end());
  rate_limit const& limit = all.front()->physical_limit;
  axes const scale = make_axes(all, limit.rate);
  std::string result = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: GB/s over size\">"
      "<text x=\"0\" y=\"11\">GB/s</text>",
      width, height, escape_html(all.front()->name));
  result += draw_axes(scale, library.empty() ? raw : library);
  result += draw_path_changes(scale, library);
  result += draw_line(scale, raw, "raw") + draw_line(scale, library, "library");
  if (limit.rate) {
    double const y = scale.y(*limit.rate);
    result += fmt::format(
        "<line class=\"limit\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"limit\" x=\"{}\" y=\"{:.1f}\">limit {} ({})</text>",
        left, width - right, y, y, left + 6, y - 4, format_rate(*limit.rate),
        escape_html(limit.origin));
  }
  return result + "</svg>\n";
}

}  // namespace rocbench
