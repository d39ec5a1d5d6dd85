// SPDX-License-Identifier: MIT
#include "html.hpp"

#include <fmt/format.h>

#include "palette.hpp"

namespace rocbench {
namespace {

std::string variables(palette const& colors) {
  return fmt::format(
      "--page: {}; --text: {}; --quiet: {}; --line: {}; --track: {}; --library: {}; --raw: {}; "
      "--limit: {}; --good: {}; --bad: {};",
      colors.page, colors.text, colors.quiet, colors.line, colors.track, colors.library, colors.raw,
      colors.limit, colors.good, colors.bad);
}

std::string colors() {
  return fmt::format(
      ":root {{ color-scheme: light dark; {} }}\n"
      "@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}",
      variables(light_colors), variables(dark_colors));
}

constexpr char const* style = R"(
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--page);
  color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: .3rem 0; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .2rem; }
h3 { font-size: 1rem; margin: .2rem 0; }
p { margin: .2rem 0 .8rem; color: var(--quiet); }
.warning { color: var(--bad); font-weight: 600; }
.row { display: grid; grid-template-columns: 15rem 1fr 22rem; gap: .1rem 1rem;
  align-items: center; padding: .3rem 0; border-top: 1px solid var(--line); }
.row small { display: block; }
.row small, .row .value { color: var(--quiet); font-size: .85rem; }
.row .name { overflow-wrap: anywhere; }
.row .value b { color: var(--text); font-size: 1rem; }
.bar { width: 100%; height: 1.1rem; display: block; }
.track { fill: var(--track); } .library { fill: var(--library); } .raw { fill: var(--raw); }
.spread { fill: var(--text); opacity: .55; } .zero { fill: var(--quiet); }
.same { fill: var(--raw); } .unclear, .not { fill: var(--raw); opacity: .45; }
.faster { fill: var(--good); } .slower, .wrong { fill: var(--bad); }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
.key.library { background: var(--library); } .key.raw { background: var(--raw); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr));
  gap: 1.2rem; }
.chart { width: 100%; height: auto; display: block; }
.chart text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
.chart .grid { stroke: var(--line); } .chart .line { fill: none; stroke-width: 2; }
.chart .line.library { stroke: var(--library); }
.chart .line.raw { stroke: var(--raw); stroke-dasharray: 5 4; }
.chart .limit { stroke: var(--limit); stroke-dasharray: 2 3; }
.chart text.limit { fill: var(--limit); stroke: var(--page); stroke-width: 3px;
  stroke-dasharray: none; paint-order: stroke; }
.chart .switch { stroke: var(--quiet); stroke-dasharray: 1 3; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; }
th, td { text-align: left; padding: .25rem .7rem .25rem 0; border-top: 1px solid var(--line);
  white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
table.facts td { white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 46rem) {
  body { padding: .8rem; }
  .row { grid-template-columns: 1fr; gap: .25rem; padding: .7rem 0; }
  .row small { display: inline; }
}
)";

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (char const character : text) {
    switch (character) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += character;
    }
  }
  return result;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escape_html(title), colors(), style, body);
}

std::string html_section(std::string_view heading, std::string_view introduction,
                         std::string const& content) {
  if (content.empty()) return "";
  return fmt::format("<section>\n<h2>{}</h2>\n<p>{}</p>\n{}</section>\n", heading, introduction,
                     content);
}

}  // namespace rocbench
