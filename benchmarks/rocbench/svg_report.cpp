// SPDX-License-Identifier: MIT
// The efficiency bars alone, as a picture that needs nothing else.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bar_rows.hpp"
#include "html.hpp"
#include "palette.hpp"
#include "report.hpp"
#include "report_parts.hpp"

namespace rocbench {
namespace {

// Narrow, so that letters stay legible where a window is.
constexpr double width = 560;
constexpr double margin = 18;
constexpr double inner = width - 2 * margin;
constexpr double row_height = 52;

// Colours by rules, not variables: not every program that shows pictures knows these.
std::string rules(palette const& of) {
  return fmt::format(
      ".page {{ fill: {}; stroke: {}; }} .line {{ stroke: {}; }}\n"
      "text {{ fill: {}; }} .quiet {{ fill: {}; }} .bad {{ fill: {}; }}\n"
      ".track {{ fill: {}; }} .library {{ fill: {}; }} .raw {{ fill: {}; }}\n"
      ".spread {{ fill: {}; opacity: .6; }} .limit {{ fill: {}; }}\n",
      of.page, of.line, of.line, of.text, of.quiet, of.bad, of.track, of.library, of.raw, of.text,
      of.limit);
}

std::string style() {
  return fmt::format(
      "text {{ font-family: system-ui, sans-serif; font-size: 11px; }}\n"
      ".title {{ font-size: 17px; font-weight: 600; }} .strong {{ font-size: 13px; "
      "font-weight: 600; }}\n{}@media (prefers-color-scheme: dark) {{\n{}}}\n",
      rules(light_colours), rules(dark_colours));
}

// Of `most` characters at most, as XML; what XML has no way to write becomes a question mark.
std::string xml_text(std::string_view text, std::size_t most) {
  std::string result;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const byte = static_cast<unsigned char>(text[at]);
    bool const begins = (byte & 0xC0) != 0x80;
    if (begins && ++characters > most) return escape_html(result) + "…";
    std::string_view const three = text.substr(at, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      result += '?';
      at += 2;
    } else {
      result += byte < 0x20 || byte == 0x7F ? '?' : text[at];
    }
  }
  return escape_html(result);
}

std::string text(double x, double y, char const* kind, std::string_view words, std::size_t most,
                 bool to_the_left = false) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>\n", kind, x, y,
                     to_the_left ? " text-anchor=\"end\"" : "", xml_text(words, most));
}

std::string bar(char const* kind, double from, double to, double y, double height) {
  double const begin = std::clamp(from, 0.0, 1.0);
  double const end = std::clamp(to, begin, 1.0);
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"1\"/>\n", kind,
      margin + inner * begin, y, inner * (end - begin), height);
}

std::string row(bar_row const& of, double y) {
  std::string result = text(margin, y + 12, "strong", of.name, 36) +
                       text(width - margin, y + 12, "strong", of.value, 24, true) +
                       bar("track", 0, 1, y + 17, 12);
  if (of.library) result += bar("library", 0, *of.library, y + 17, of.raw ? 7 : 12);
  if (of.low && of.high) result += bar("spread", *of.low, *of.high, y + (of.raw ? 20 : 22.5), 1.2);
  if (of.raw) result += bar("raw", 0, *of.raw, y + 25, 4);
  if (of.library) result += bar("limit", 1 - 1.5 / inner, 1, y + 15, 16);
  return result + text(margin, y + 41, "quiet", of.note, 40) +
         text(width - margin, y + 41, "quiet", of.more, 56, true);
}

struct head {
  double height;
  std::string drawing;
};

head head_of(document const& of) {
  head result{0, text(margin, 30, "title", of.where.device_name, 50)};
  result.drawing += text(margin, 48, "quiet",
                         "rocbench " + of.where.version + ", " + of.where.date.substr(0, 10) +
                             ", every sample verified. GB = 1e9 bytes.",
                         90);
  double y = 66;
  for (std::string const& each : warnings_of(of)) {
    result.drawing += text(margin, y, "bad", each, 90);
    y += 16;
  }
  result.drawing +=
      bar("library", 0, 10 / inner, y - 8, 8) +
      text(margin + 15, y, "quiet", "rocarray, 5th to 95th percentile as a line", 60) +
      bar("raw", 262 / inner, 272 / inner, y - 8, 8) +
      text(margin + 277, y, "quiet", "HIP's own call, or plain pointers", 60) +
      bar("limit", 4 / inner, 5.5 / inner, y + 7, 10) +
      text(margin + 15, y + 16, "quiet", "the physical limit", 60);
  result.height = y + 26;
  return result;
}

}  // namespace

std::string svg_report(document const& of) {
  std::vector<bar_row> const rows = efficiency_rows(pairs_of(of));
  if (rows.empty()) return "";
  head const above = head_of(of);
  double const height = above.height + row_height * static_cast<double>(rows.size()) + 8;
  std::string result = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>rocbench: {2}, rates and their share of the physical "
      "limit</title>\n<style>\n{3}</style>\n<rect class=\"page\" x=\".5\" y=\".5\" width=\"{4}\" "
      "height=\"{5}\" rx=\"6\"/>\n{6}",
      width, height, xml_text(of.where.device_name, 50), style(), width - 1, height - 1,
      above.drawing);
  double y = above.height;
  for (bar_row const& each : rows) {
    result += fmt::format("<path class=\"line\" d=\"M{} {}H{}\"/>\n", margin, y, width - margin);
    result += row(each, y + 4);
    y += row_height;
  }
  return result + "</svg>\n";
}

}  // namespace rocbench
