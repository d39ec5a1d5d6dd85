// SPDX-License-Identifier: MIT
#include "svg_report.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bar_rows.hpp"
#include "case_pairs.hpp"
#include "html.hpp"
#include "palette.hpp"
#include "report_bars.hpp"
#include "report_warnings.hpp"

namespace rocbench {
namespace {

// Narrow, so that text stays legible in a narrow window.
constexpr double width = 560;
constexpr double margin = 18;
constexpr double inner = width - 2 * margin;
constexpr double row_height = 52;

// CSS rules instead of variables: some programs that show SVG do not support variables.
std::string color_rules(palette const& colors) {
  return fmt::format(
      ".page {{ fill: {}; stroke: {}; }} .line {{ stroke: {}; }}\n"
      "text {{ fill: {}; }} .quiet {{ fill: {}; }} .bad {{ fill: {}; }}\n"
      ".track {{ fill: {}; }} .library {{ fill: {}; }} .raw {{ fill: {}; }}\n"
      ".spread {{ fill: {}; opacity: .6; }} .limit {{ fill: {}; }}\n",
      colors.page, colors.line, colors.line, colors.text, colors.quiet, colors.bad, colors.track,
      colors.library, colors.raw, colors.text, colors.limit);
}

std::string style() {
  return fmt::format(
      "text {{ font-family: system-ui, sans-serif; font-size: 11px; }}\n"
      ".title {{ font-size: 17px; font-weight: 600; }} .strong {{ font-size: 13px; "
      "font-weight: 600; }}\n{}@media (prefers-color-scheme: dark) {{\n{}}}\n",
      color_rules(light_colors), color_rules(dark_colors));
}

// Returns the text escaped for XML and shortened to `max_characters`. Characters that XML does not
// allow become question marks.
std::string xml_text(std::string_view text, std::size_t max_characters) {
  std::string result;
  std::size_t characters = 0;
  for (std::size_t offset = 0; offset < text.size(); ++offset) {
    auto const byte = static_cast<unsigned char>(text[offset]);
    bool const starts_character = (byte & 0xC0) != 0x80;
    if (starts_character && ++characters > max_characters) return escape_html(result) + "…";
    std::string_view const sequence = text.substr(offset, 3);
    if (sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF") {
      result += '?';
      offset += 2;
    } else {
      result += byte < 0x20 || byte == 0x7F ? '?' : text[offset];
    }
  }
  return escape_html(result);
}

std::string draw_text(double x, double y, char const* css_class, std::string_view content,
                      std::size_t max_characters, bool right_aligned = false) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>\n", css_class, x, y,
                     right_aligned ? " text-anchor=\"end\"" : "",
                     xml_text(content, max_characters));
}

std::string draw_bar(char const* css_class, double begin_fraction, double end_fraction, double y,
                     double height) {
  double const begin = std::clamp(begin_fraction, 0.0, 1.0);
  double const end = std::clamp(end_fraction, begin, 1.0);
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"1\"/>\n",
      css_class, margin + inner * begin, y, inner * (end - begin), height);
}

std::string draw_row(bar_row const& row, double y) {
  std::string result = draw_text(margin, y + 12, "strong", row.name, 36) +
                       draw_text(width - margin, y + 12, "strong", row.value, 24, true) +
                       draw_bar("track", 0, 1, y + 17, 12);
  if (row.library) result += draw_bar("library", 0, *row.library, y + 17, row.raw ? 7 : 12);
  if (row.low && row.high)
    result += draw_bar("spread", *row.low, *row.high, y + (row.raw ? 20 : 22.5), 1.2);
  if (row.raw) result += draw_bar("raw", 0, *row.raw, y + 25, 4);
  if (row.library) result += draw_bar("limit", 1 - 1.5 / inner, 1, y + 15, 16);
  return result + draw_text(margin, y + 41, "quiet", row.note, 40) +
         draw_text(width - margin, y + 41, "quiet", row.detail, 56, true);
}

struct header {
  double height;
  std::string drawing;
};

header make_header(benchmark_run const& run) {
  header result{0, draw_text(margin, 30, "title", run.environment.device_name, 50)};
  result.drawing +=
      draw_text(margin, 48, "quiet",
                "rocbench " + run.environment.version + ", " + run.environment.date.substr(0, 10) +
                    ", every sample verified. GB = 1e9 bytes.",
                90);
  double y = 66;
  for (std::string const& warning : report_warnings(run)) {
    result.drawing += draw_text(margin, y, "bad", warning, 90);
    y += 16;
  }
  result.drawing +=
      draw_bar("library", 0, 10 / inner, y - 8, 8) +
      draw_text(margin + 15, y, "quiet", "rocarray; line: 5th to 95th percentile", 60) +
      draw_bar("raw", 262 / inner, 272 / inner, y - 8, 8) +
      draw_text(margin + 277, y, "quiet", "HIP's own call, or plain pointers", 60) +
      draw_bar("limit", 4 / inner, 5.5 / inner, y + 7, 10) +
      draw_text(margin + 15, y + 16, "quiet", "the physical limit", 60);
  result.height = y + 26;
  return result;
}

}  // namespace

std::string svg_report(benchmark_run const& run) {
  std::vector<bar_row> const rows = efficiency_rows(pair_cases(run));
  if (rows.empty()) return "";
  header const header_part = make_header(run);
  double const height = header_part.height + row_height * static_cast<double>(rows.size()) + 8;
  std::string result = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>rocbench: {2}, rates as fractions of the physical "
      "limit</title>\n<style>\n{3}</style>\n<rect class=\"page\" x=\".5\" y=\".5\" width=\"{4}\" "
      "height=\"{5}\" rx=\"6\"/>\n{6}",
      width, height, xml_text(run.environment.device_name, 50), style(), width - 1, height - 1,
      header_part.drawing);
  double y = header_part.height;
  for (bar_row const& row_data : rows) {
    result += fmt::format("<path class=\"line\" d=\"M{} {}H{}\"/>\n", margin, y, width - margin);
    result += draw_row(row_data, y + 4);
    y += row_height;
  }
  return result + "</svg>\n";
}

}  // namespace rocbench
