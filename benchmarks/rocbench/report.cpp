// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "comparison.hpp"
#include "format.hpp"
#include "result_file.hpp"
#include "result_table.hpp"

namespace rocbench {
namespace {

constexpr double tolerance = 0.02;

// Returns the text escaped for HTML and XML and shortened to `max_characters`. Texts of result
// files have no characters that XML does not allow.
std::string escape(std::string_view text, std::size_t max_characters = std::string::npos) {
  std::string result;
  std::size_t characters = 0;
  for (char const character : text) {
    bool const starts_character = (static_cast<unsigned char>(character) & 0xC0) != 0x80;
    if (starts_character && ++characters > max_characters) return result + "…";
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

// Colors instead of CSS variables, which some programs that show SVG do not support.
constexpr struct {
  char const* name;
  char const* light;
  char const* dark;
} palette[] = {
    {"$page", "#ffffff", "#12161d"},  {"$text", "#1c2330", "#e6eaf1"},
    {"$quiet", "#5b6577", "#9aa5b8"}, {"$line", "#d9dee7", "#323a48"},
    {"$track", "#e4e9f2", "#222936"}, {"$library", "#1f5fd0", "#6ea2ff"},
    {"$raw", "#8b95a7", "#8a94a6"},   {"$good", "#18794e", "#56d39b"},
    {"$bad", "#c2261d", "#ff7b72"},
};

// The style sheet of the page and the picture. Gradients draw shadows at the sides at which the
// table continues. Gradients in the color of the page scroll with the table and hide the shadows at
// its ends.
constexpr char const* colors = R"(body { background: $page; color: $text; }
text, .spread { fill: $text; stroke: $text; } .page { fill: $page; stroke: $line; }
p, small, .value, .axis, .plot span { color: $quiet; } b, .verdict { color: $text; }
th, td, .row, .plot { border-color: $line; } .grid, .line { stroke: $line; }
.track { fill: $track; } .quiet { fill: $quiet; stroke: $quiet; }
.library { fill: $library; stroke: $library; } .key.library { background: $library; }
.raw, .same, .unclear { fill: $raw; stroke: $raw; } .key.raw { background: $raw; }
.limit { fill: $bad; stroke: $bad; } .key.limit { background: $bad; }
.good, .faster { fill: $good; stroke: $good; color: $good; }
.bad, .slower, .wrong { fill: $bad; stroke: $bad; color: $bad; }
.scroll td:first-child, .scroll th:first-child { background: $page; }
.scroll { background-image: linear-gradient(90deg, $page 30%, transparent),
  linear-gradient(270deg, $page 30%, transparent), linear-gradient(90deg, $quiet, transparent),
  linear-gradient(270deg, $quiet, transparent); }
)";

std::string style(char const* layout) {
  auto const with_colors = [](bool is_dark) {
    std::string rules = colors;
    for (auto const& [name, light, dark] : palette) {
      for (auto i = rules.find(name); i != std::string::npos; i = rules.find(name, i))
        rules.replace(i, std::string_view(name).size(), is_dark ? dark : light);
    }
    return rules;
  };
  return fmt::format(
      "{}rect:not(.page), polygon, text {{ stroke: none !important; }} path {{ fill: none "
      "!important; }}\n{}@media (prefers-color-scheme: dark) {{\n{}}}\n",
      layout, with_colors(false), with_colors(true));
}

constexpr char const* page_layout = R"(:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: .3rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .2rem; }
h3 { font-size: 1rem; margin: .2rem 0; }
p { margin: .2rem 0 .6rem; }
.verdict { font-size: 1.15rem; font-weight: 600; }
p.bad { font-weight: 600; }
.row { display: grid; grid-template-columns: 14rem 1fr 5rem 20rem; gap: .1rem 1rem;
  align-items: center; padding: .3rem 0; border-top: 1px solid; }
.row small { display: block; }
small, .value, .axis { font-size: .85rem; }
.name { overflow-wrap: anywhere; }
.value b, .ratio b { font-size: 1rem; }
.bar { width: 100%; height: 1.2rem; display: block; overflow: visible; }
.bar path, .plot path { stroke-width: 2px; vector-effect: non-scaling-stroke; }
.spread { opacity: .6; }
.unclear { opacity: .45; }
path.dot { stroke-width: 9px; stroke-linecap: round; }
path.limit { stroke-dasharray: 4 4; }
path.switch { stroke-dasharray: 1 3; }
path.grid, path.switch { stroke-width: 1px; }
.plot path.raw { stroke-dasharray: 5 4; } .plot path.dot { stroke-dasharray: none; }
.plot path.dot { stroke-width: 6px; }
polygon { opacity: .22; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
.charts { display: grid; grid-template-columns: 1fr 1fr; gap: 1.6rem; }
.charts > :last-child:nth-child(odd) { grid-column: 1 / -1; }
.plot { position: relative; height: 15rem; margin: 2.6rem .8rem 1.8rem 3.2rem;
  border-left: 1px solid; border-bottom: 1px solid; }
.plot svg { position: absolute; width: 100%; height: 100%; overflow: visible; }
.plot span { position: absolute; font-size: .75rem; line-height: 1; white-space: nowrap; }
.axis { position: relative; height: 1.2rem; }
.axis span { position: absolute; white-space: nowrap; }
.scroll { overflow-x: auto; background-repeat: no-repeat; background-position: left, right, left,
  right; background-size: 3rem 100%, 3rem 100%, .6rem 100%, .6rem 100%;
  background-attachment: local, local, scroll, scroll; }
.hint { display: none; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; }
th, td { text-align: left; padding: .25rem .7rem .25rem 0; border-top: 1px solid;
  white-space: nowrap; }
.scroll td:first-child, .scroll th:first-child { position: sticky; left: 0; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
table.matrix { width: auto; margin: .4rem 0 1rem; }
table.matrix th, table.matrix td { text-align: center; padding: .35rem .7rem; border: 1px solid;
  font-variant-numeric: tabular-nums; print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
table.facts td { white-space: normal; overflow-wrap: anywhere; }
table.facts th { white-space: normal; vertical-align: top; width: 14rem; }
@media (max-width: 52rem) {
  body { padding: .8rem; }
  .row { grid-template-columns: 1fr auto; gap: .25rem 1rem; padding: .6rem 0; }
  .row .bar, .row .value, .row .axis { grid-column: 1 / -1; }
  .row .bar, .row .axis { order: 1; } .row .value { order: 2; }
  .row small { display: inline; }
  .row.head > div:empty { display: none; }
  .charts { grid-template-columns: 1fr; }
  .hint { display: block; }
  table.facts th { width: 8rem; }
}
)";

std::string paragraph(char const* css_class, std::string const& text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css_class, escape(text));
}

std::string section(char const* heading, std::string const& content) {
  if (content.empty()) return "";
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", heading, content);
}

// ---- Drawings in a square of 1000 units, which is stretched to its place ----

std::string rectangle(std::string_view css_class, double left, double right, double top,
                      double bottom) {
  constexpr double min_width = 0.0025;  // visible at any size
  return fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}"/>)",
                     css_class, 1000 * left, 1000 * top, 1000 * std::max(right - left, min_width),
                     1000 * (bottom - top));
}

// A line without length is drawn as a dot, by its round ends.
std::string line(std::string_view css_class, double left, double right, double top, double bottom) {
  return fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", css_class,
                     1000 * left, 1000 * top, 1000 * right, 1000 * bottom);
}

std::string drawing(std::string_view attributes, std::string const& shapes) {
  return fmt::format(
      R"(<svg {} viewBox="0 0 1000 1000" preserveAspectRatio="none" overflow="visible">{}</svg>)",
      attributes, shapes);
}

// ---- Rows of a name, a bar or dots, the ratio to HIP and a figure ----

std::string size_of(case_result const& result) { return format_size(result.bytes); }

struct figure_row {
  std::string name;
  std::string note;                  // in small type beside the name
  std::string value;                 // the figure, emphasized
  std::string detail;                // after the figure
  std::optional<double> ratio = {};  // to HIP
  std::string shapes = {};           // empty: no drawing
};

char const* ratio_class(double ratio) {
  return ratio < slower_ratio ? "bad" : ratio > 1 / slower_ratio ? "good" : "";
}

std::string html_row(figure_row const& row) {
  std::string const bar =
      row.shapes.empty() ? "<div></div>" : drawing(R"(class="bar")", row.shapes);
  std::string const ratio = row.ratio
                                ? fmt::format(R"(<b class="{}">{:.2f}</b> <small>of HIP</small>)",
                                              ratio_class(*row.ratio), *row.ratio)
                                : "";
  return fmt::format(R"(<div class="row"><div class="name">{} <small>{}</small></div>{})"
                     R"(<div class="ratio">{}</div><div class="value"><b>{}</b> {}</div></div>)"
                     "\n",
                     escape(row.name), escape(row.note), bar, ratio, escape(row.value),
                     escape(row.detail));
}

constexpr char const* keys =
    R"(<span class="key library"></span> rocarray, with a line from the 5th to the 95th )"
    R"(percentile; <span class="key raw"></span> HIP's own call, or the same kernel with plain )"
    "pointers. The ratio is the speed relative to HIP. ";

bool counts_time(case_pair const& pair) {
  return pair.shown().front()->counted == accounting::time;
}

double longest_bar(case_pair const& pair) {
  case_result const& shown = *pair.shown().back();
  case_result const* const raw = pair.counterpart(shown);
  return std::max({shown.measured.reported_rate(), shown.measured.rate.p95,
                   raw == nullptr ? 0 : raw->measured.reported_rate()});
}

// Returns the fraction of the limit at the end of the bars: above 1 if a bar is longer.
double efficiency_at_end(std::vector<case_pair> const& pairs) {
  double result = 1;
  for (case_pair const& pair : pairs) {
    auto const& limit = pair.shown().back()->physical_limit.rate;
    if (limit && !counts_time(pair)) result = std::max(result, longest_bar(pair) / *limit);
  }
  return result;
}

// A case at its largest size. Without a limit, the longest of its bars has the full length, and a
// single bar is not drawn.
figure_row rate_row(case_pair const& pair, double at_end) {
  case_result const& shown = *pair.shown().back();
  case_result const* const raw = pair.counterpart(shown);
  summary const& rate = shown.measured.rate;
  auto const& limit = shown.physical_limit.rate;
  double const end = limit ? at_end * *limit : longest_bar(pair);
  double const split = raw != nullptr ? 0.62 : 1;
  figure_row row{
      shown.name,
      size_of(shown) + ", " + shown.path + (shown.measured.loop ? ", shortest time" : ""),
      format_rate(shown.measured.reported_rate()) + " GB/s", ""};
  row.shapes = rectangle("track", 0, 1, 0, 1) +
               rectangle("library", 0, shown.measured.reported_rate() / end, 0, split) +
               rectangle("spread", rate.p5 / end, rate.p95 / end, split / 2 - .05, split / 2 + .05);
  if (limit) {
    row.value += ", " + format_fraction(*shown.efficiency());
    row.detail = "of " + format_rate(*limit) + " (" + shown.physical_limit.origin + "), ";
    row.shapes += rectangle("limit", 1 / at_end - .0025, 1 / at_end, -.2, 1.2);
  }
  row.detail += to_string(shown.counted);
  if (raw != nullptr) {
    double const raw_rate = raw->measured.reported_rate();
    bool const is_kernel = raw->path.starts_with("kernel");
    row.detail += (is_kernel ? "; pointers " : "; HIP ") + format_rate(raw_rate);
    row.ratio = ratio_to(shown, *raw);
    row.shapes += rectangle("raw", 0, raw_rate / end, .68, 1);
  } else if (!limit) {
    row.shapes.clear();
  }
  return row;
}

std::string rate_section(std::vector<case_pair> const& pairs, bool has_limit) {
  double const at_end = efficiency_at_end(pairs);
  std::string rows;
  for (case_pair const& pair : pairs) {
    bool const is_limited = pair.shown().back()->physical_limit.rate.has_value();
    if (!counts_time(pair) && is_limited == has_limit) rows += html_row(rate_row(pair, at_end));
  }
  if (rows.empty()) return "";
  std::string const axis =
      has_limit
          ? fmt::format("The red mark is the physical limit; the full width is {:.0f} % of it.",
                        100 * at_end)
          : "In each row the longest bar has the full width.";
  return section(
      has_limit ? "Efficiency" : "Rates without a known limit",
      fmt::format("<p>{}{} GB = 1e9 bytes. Each case is shown at its largest size.</p>\n{}", keys,
                  axis, rows));
}

// Dots on a logarithmic axis over whole decades.
std::string time_section(std::vector<case_pair> pairs) {
  std::erase_if(pairs, [](case_pair const& pair) { return !counts_time(pair); });
  if (pairs.empty()) return "";
  double first = 1e9;
  double last = -1e9;
  for (case_pair const& pair : pairs) {
    for (case_result const* result : pair.both()) {
      first = std::min(first, std::floor(std::log10(result->measured.seconds.p5)));
      last = std::max(last, std::floor(std::log10(result->measured.seconds.p95)) + 1);
    }
  }
  auto const x = [&](double seconds) { return (std::log10(seconds) - first) / (last - first); };
  std::string grid;
  std::string labels;
  for (double decade = first; decade <= last; ++decade) {
    double const left = (decade - first) / (last - first);
    grid += line("grid", left, left, -.3, 1.3);
    labels +=
        fmt::format("<span style=\"left:{0:.1f}%;transform:translateX(-{0:.0f}%)\">{1}</span>",
                    100 * left, format_time(std::pow(10, decade)));
  }
  std::string rows;
  for (case_pair const& pair : pairs) {
    for (case_result const* shown : pair.shown()) {
      summary const& seconds = shown->measured.seconds;
      figure_row row{shown->name, size_of(*shown) + ", " + shown->path, format_time(seconds.median),
                     format_spread(*shown)};
      row.shapes = grid + line("spread", x(seconds.p5), x(seconds.p95), .3, .3);
      if (auto const* const raw = pair.counterpart(*shown)) {
        double const median = raw->measured.seconds.median;
        row.detail += "; HIP " + format_time(median);
        row.ratio = ratio_to(*shown, *raw);
        row.shapes += line("dot raw", x(median), x(median), .75, .75);
      }
      row.shapes += line("dot library", x(seconds.median), x(seconds.median), .3, .3);
      rows += html_row(row);
    }
  }
  return section("Latency and allocation",
                 fmt::format("<p>{}Further left is faster; the axis is logarithmic.</p>\n"
                             R"(<div class="row head"><div></div><div class="axis">{}</div>)"
                             "<div></div><div></div></div>\n{}",
                             keys, labels, rows));
}

std::string change_section(comparison const& changes, std::string const& date) {
  std::vector<compared_case> measured = changes.cases;
  std::erase_if(measured, [](auto& compared) { return compared.verdict == change::not_measured; });
  double reach = 0.05;  // the axis extends from -reach to reach
  for (compared_case const& compared : measured)
    reach = std::max(reach, std::min(1.2 * std::abs(compared.speed - 1), 1.0));
  auto const x = [&](double speed) { return std::clamp(0.5 + (speed - 1) / reach / 2, 0.0, 1.0); };
  std::string rows;
  for (compared_case const& compared : measured) {
    interval const& range = compared.range;
    std::string const verdict = to_string(compared.verdict);
    figure_row row{compared.after->name, size_of(*compared.after),
                   fmt::format("{:+.1f} %, {}", 100 * (compared.speed - 1), verdict),
                   "too few samples"};
    if (std::isfinite(range.high)) {
      row.detail =
          fmt::format("{:+.1f} % to {:+.1f} %", 100 * (range.low - 1), 100 * (range.high - 1));
      row.shapes =
          rectangle("track", 0, 1, 0, 1) +
          rectangle(verdict.substr(0, verdict.find(' ')), x(range.low), x(range.high), .2, .8) +
          line("quiet", .5, .5, -.2, 1.2);
    }
    rows += html_row(row);
  }
  return section("Changes",
                 fmt::format("<p>Since {}. The axis extends from {:+.0f} % to {:+.0f} %, with no "
                             "change in the middle; right is faster. A bar is the range of the "
                             "change, which covers the spread of the samples if they disagreed. A "
                             "pale bar is unclear.</p>\n{}",
                             escape(date), -100 * reach, 100 * reach, rows));
}

// ---- Matrices of devices, as heat maps ----

struct rgb {
  double red;
  double green;
  double blue;
};

// Returns the color of a fraction from 0 to 1. The scale runs from yellow to dark blue: people who
// do not tell red from green can read it, and its lightness falls steadily, so a print in gray can
// be read too.
rgb heat_color(double fraction) {
  constexpr rgb stops[] = {
      {255, 243, 176}, {161, 207, 180}, {73, 152, 184}, {34, 87, 148}, {16, 28, 84}};
  double const position = std::clamp(fraction, 0.0, 1.0) * (std::size(stops) - 1);
  auto const below = std::min(static_cast<std::size_t>(position), std::size(stops) - 2);
  double const part = position - static_cast<double>(below);
  rgb const& low = stops[below];
  rgb const& high = stops[below + 1];
  return {std::lerp(low.red, high.red, part), std::lerp(low.green, high.green, part),
          std::lerp(low.blue, high.blue, part)};
}

// Returns the relative luminance as WCAG defines it.
double luminance(rgb const& color) {
  auto const linear = [](double value) {
    double const fraction = value / 255;
    return fraction <= 0.04045 ? fraction / 12.92 : std::pow((fraction + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

// Returns the colors of a cell. The text is black or white, whichever has the higher contrast.
std::string heat_style(double fraction) {
  rgb const color = heat_color(fraction);
  return fmt::format("background:#{:02x}{:02x}{:02x};color:{}", std::lround(color.red),
                     std::lround(color.green), std::lround(color.blue),
                     luminance(color) > 0.179 ? "#000" : "#fff");
}

std::string heat_map(device_matrix const& matrix) {
  std::string rows = "<tr><th>from \\ to</th>";
  for (int const device : matrix.devices) rows += fmt::format("<th scope=\"col\">{}</th>", device);
  rows += "</tr>\n";
  for (std::size_t from = 0; from < matrix.devices.size(); ++from) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", matrix.devices[from]);
    for (std::size_t to = 0; to < matrix.devices.size(); ++to) {
      case_result const* const result = matrix.at(from, to);
      rows += result == nullptr
                  ? "<td>–</td>"
                  : fmt::format("<td style=\"{}\" title=\"{}, 5 to 95 %: {}\">{}</td>",
                                heat_style(matrix.relative_speed(*result)), escape(result->name),
                                escape(format_spread(*result)), escape(format_value(*result)));
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"scroll\"><h3>{}</h3><table class=\"matrix\">\n{}</table></div>\n",
      escape(matrix.title()), rows);
}

std::string matrix_section(benchmark_run const& run) {
  std::string maps;
  for (device_matrix const& matrix : device_matrices(run)) maps += heat_map(matrix);
  if (maps.empty()) return "";
  std::string scale;
  for (int percent = 0; percent <= 100; percent += 25)
    scale += fmt::format("<td style=\"{}\">{} %</td>", heat_style(percent / 100.0), percent);
  return section(
      "Pairs of devices",
      fmt::format("<p>Row: the device that is read; column: the device that is written. "
                  "Darker is faster. The scale is the speed relative to the fastest "
                  "pair of the same matrix:</p>\n<table class=\"matrix\"><tr>{}</tr></table>\n"
                  "<div class=\"charts\">\n{}</div>\n",
                  scale, maps));
}

// ---- Rates of each device, and bus bandwidths ----

std::string several_devices_section(benchmark_run const& run) {
  std::string rows;
  for (case_result const& result : run.results) {
    if (result.status != outcome::measured || result.measured.devices.empty()) continue;
    std::string rates;
    for (device_rate const& rate : result.measured.devices)
      rates +=
          fmt::format("{}{}: {}", rates.empty() ? "" : ", ", rate.device, format_rate(rate.rate));
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td>{}</td></tr>\n",
        escape(result.name), size_of(result), format_value(result), rates);
  }
  if (rows.empty()) return "";
  return section("All devices at once",
                 "<p>GB/s of all devices together, and of each device by its ordinal.</p>\n"
                 "<div class=\"scroll\"><table>\n<tr><th>case</th><th class=\"number\">size</th>"
                 "<th class=\"number\">together</th><th>each</th></tr>\n" +
                     rows + "</table></div>\n");
}

std::string collective_section(benchmark_run const& run) {
  std::string rows;
  for (case_result const& result : run.results) {
    auto const bandwidth = result.bus_bandwidth();
    if (!bandwidth || result.measured.mismatch) continue;
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        escape(result.name), size_of(result), format_rate(result.measured.reported_rate()),
        format_rate(*bandwidth), format_time(result.measured.reported_seconds()));
  }
  if (rows.empty()) return "";
  return section("Collective operations",
                 "<p>GB/s. The bus bandwidth is that of NCCL's tests.</p>\n"
                 "<div class=\"scroll\"><table>\n<tr><th>case</th><th class=\"number\">size</th>"
                 "<th class=\"number\">algorithm</th><th class=\"number\">bus</th>"
                 "<th class=\"number\">time</th></tr>\n" +
                     rows + "</table></div>\n");
}

// ---- Rates over size. Labels stand outside of the plot, where no curve crosses them ----

// Returns a step of 1, 2 or 5 times a power of ten that divides the axis into about four parts.
double tick_step(double highest) {
  double const rough = highest / 4;
  double const power = std::pow(10, std::floor(std::log10(rough)));
  for (double const factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

// Returns a label at the fraction `left` of the width that does not leave the plot.
std::string label_at(double left, char const* vertical, std::string const& text) {
  return fmt::format(
      R"(<span style="left:{0:.1f}%;transform:translateX(-{0:.0f}%);{1}">{2}</span>)", 100 * left,
      vertical, escape(text));
}

std::string size_chart(case_pair const& pair) {
  auto const log_size = [](case_result const* point) {
    return std::log2(static_cast<double>(std::max(point->bytes, std::size_t{1})));
  };
  rate_limit const& limit = pair.shown().front()->physical_limit;
  double highest = limit.rate.value_or(0);
  for (case_result const* point : pair.both())
    highest = std::max({highest, point->measured.rate.p95, point->measured.reported_rate()});
  double const first = log_size(pair.shown().front());
  double const last = std::max(log_size(pair.shown().back()), first + 1);
  auto const x = [&](case_result const* point) {
    return (log_size(point) - first) / (last - first);
  };
  auto const y = [&](double rate) { return 1 - rate / (1.04 * highest); };
  std::string shapes;
  std::string labels;
  double const step = tick_step(highest);
  for (double rate = 0; rate <= 1.001 * highest; rate += step) {
    shapes += line("grid", 0, 1, y(rate), y(rate));
    labels += fmt::format(
        "<span style=\"right:calc(100% + .4rem);top:calc({:.1f}% - .4rem)\">{:g}</span>",
        100 * y(rate), rate * 1e-9);
  }
  // Sizes, without labels that would overlap on a phone.
  double next_free = 0;
  for (case_result const* point : pair.shown()) {
    if (x(point) + 1e-9 < next_free) continue;
    next_free = x(point) + 0.24;
    labels += label_at(x(point), "top:calc(100% + .5rem)", size_of(*point));
  }
  // Changes of the library's path, named above the plot in two alternating lines.
  std::string upper_edge;
  std::string lower_edge;
  std::string path;
  bool is_upper = false;
  for (case_result const* point : pair.library) {
    if (point->path != path) {
      path = point->path;
      shapes += line("switch quiet", x(point), x(point), is_upper ? -.1 : -.04, 1);
      labels += label_at(
          x(point), is_upper ? "bottom:calc(100% + 1.3rem)" : "bottom:calc(100% + .3rem)", path);
      is_upper = !is_upper;
    }
    summary const& rate = point->measured.rate;
    upper_edge += fmt::format("{:.1f},{:.1f} ", 1000 * x(point), 1000 * y(rate.p95));
    lower_edge = fmt::format("{:.1f},{:.1f} ", 1000 * x(point), 1000 * y(rate.p5)) + lower_edge;
  }
  shapes += fmt::format(R"(<polygon class="library" points="{}{}"/>)", upper_edge, lower_edge);
  for (bool const is_raw : {true, false}) {
    std::string const name = is_raw ? "raw" : "library";
    case_result const* previous = nullptr;
    for (case_result const* point : is_raw ? pair.raw : pair.library) {
      double const top = y(point->measured.reported_rate());
      if (previous != nullptr)
        shapes += line(name, x(previous), x(point), y(previous->measured.reported_rate()), top);
      shapes += line("dot " + name, x(point), x(point), top, top);
      previous = point;
    }
  }
  std::string note = "GB/s over size";
  if (limit.rate) {
    shapes += line("limit", 0, 1, y(*limit.rate), y(*limit.rate));
    note += "; limit " + format_rate(*limit.rate) + " (" + limit.origin + ")";
  }
  return fmt::format(R"(<div><h3>{}</h3><small>{}</small><div class="plot">{}{}</div></div>)"
                     "\n",
                     escape(pair.name), escape(note), drawing("", shapes), labels);
}

std::string size_section(std::vector<case_pair> const& pairs) {
  constexpr std::size_t min_sizes = 3;  // a chart needs at least this number of sizes
  std::string charts;
  for (case_pair const& pair : pairs) {
    if (!counts_time(pair) && pair.shown().size() >= min_sizes) charts += size_chart(pair);
  }
  if (charts.empty()) return "";
  return section(
      "Rate over size",
      R"(<p><span class="key library"></span> rocarray, with a band from the 5th to the 95th )"
      R"(percentile; <span class="key raw"></span> dashed: HIP's own call; )"
      R"(<span class="key limit"></span>)"
      " dashed: the physical limit. Above a chart stands the path that the library takes "
      "from that size on.</p>\n<div class=\"charts\">\n" +
          charts + "</div>\n");
}

// ---- Tables ----

std::string cell(std::string const& text, char const* css_class = "") {
  return fmt::format("<td class=\"{}\">{}</td>", css_class, escape(text));
}

std::string table_row(case_result const& result) {
  std::string const row = "<tr>" + cell(result.name) + cell(size_of(result), "number");
  if (result.status != outcome::measured) {
    return row + fmt::format("<td colspan=\"7\">{}: {}</td></tr>\n",
                             result.status == outcome::skipped ? "skipped" : "failed",
                             escape(result.reason));
  }
  measurement const& measured = result.measured;
  bool const is_time = result.counted == accounting::time;
  char const* const unit = is_time ? "" : " GB/s";
  auto const& limit = result.physical_limit.rate;
  return row +
         cell(format_value(result) + unit + (measured.loop ? " (shortest time)" : ""), "number") +
         cell(format_spread(result) + unit, "number") +
         cell(limit     ? format_rate(*limit)
              : is_time ? ""
                        : "unknown",
              "number") +
         cell(to_string(result.counted)) + cell(result.path) +
         cell(fmt::format("{}", measured.seconds.count), "number") +
         cell(measured.mismatch ? "NO: " + *measured.mismatch : "yes") + "</tr>\n";
}

std::string figures_section(benchmark_run const& run) {
  std::string rows;
  for (case_result const& result : run.results) rows += table_row(result);
  if (rows.empty()) return "";
  return section("All figures",
                 R"(<p class="hint">The table continues to the right: scroll it sideways.</p>
<div class="scroll"><table>
<tr><th>case</th><th class="number">size</th><th class="number">median</th>)"
                 R"(<th class="number">5 to 95 %</th><th class="number">limit</th><th>counted</th>)"
                 R"(<th>path</th><th class="number">samples</th><th>verified</th></tr>
)" + rows + "</table></div>\n");
}

std::string machine_section(benchmark_run const& run) {
  run_environment const& environment = run.environment;
  std::string rows;
  auto const add = [&](std::string const& name, std::string const& value) {
    rows += fmt::format("<tr><th>{}</th>{}</tr>\n", escape(name), cell(value));
  };
  auto const add_limit = [&](char const* name, rate_limit const& limit) {
    add(name, (limit.rate ? format_rate(*limit.rate) + " GB/s, " : "unknown: ") + limit.origin);
  };
  add("device", environment.device_name);
  add("platform", environment.platform);
  add("bus", environment.pci_bus_id);
  add("driver", fmt::format("{}", environment.driver_version));
  add("runtime", fmt::format("{}", environment.runtime_version));
  if (environment.on_gpu) {
    add_limit("link under load, one way", run.limits.link);
    add_limit("device memory, both ways", run.limits.device_memory);
  } else {
    add_limit("copies in host memory", run.limits.host_copy);
  }
  add("host", environment.host_name);
  for (fact const& property : environment.facts) add(property.name, property.value);
  for (fact const& property : environment.state) {
    add(property.name, property.value + " before the run" +
                           (property.after.empty() ? "" : ", " + property.after + " after it"));
  }
  return section("Where it was measured", "<table class=\"facts\">\n" + rows + "</table>\n");
}

// Returns the findings, and a warning if the device is not a GPU.
std::vector<finding> findings_of(benchmark_run const& run) {
  auto findings = find_in(run);
  if (auto const warning = device_warning(run.environment); !warning.empty())
    findings.push_back({finding_kind::bad, warning});
  return findings;
}

// ---- The picture ----

// Narrow, so that text stays legible in a narrow window.
constexpr double picture_width = 560;
constexpr double margin = 18;
constexpr double inner_width = picture_width - 2 * margin;
constexpr double row_height = 52;
constexpr char const* picture_layout =
    R"(text { font-family: system-ui, sans-serif; font-size: 11px; }
.title { font-size: 17px; font-weight: 600; } .strong { font-size: 13px; font-weight: 600; }
.spread { opacity: .6; }
)";

std::string picture_text(double x, double y, std::string_view css_class, std::string_view content,
                         std::size_t max_characters, bool right_aligned = false) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>\n", css_class, x, y,
                     right_aligned ? R"( text-anchor="end")" : "", escape(content, max_characters));
}

// The shapes are stretched to a place in the picture.
std::string picture_shapes(double x, double y, double width, std::string const& shapes) {
  return drawing(fmt::format(R"(x="{}" y="{}" width="{}" height="12")", x, y, width), shapes);
}

std::string picture_row(figure_row const& row, double y) {
  double const right = picture_width - margin;
  std::string result = fmt::format("<path class=\"line\" d=\"M{} {}H{}\"/>\n", margin, y, right) +
                       picture_text(margin, y + 16, "strong", row.name, 36) +
                       picture_text(right, y + 16, "strong", row.value, 24, true) +
                       picture_shapes(margin, y + 21, inner_width, row.shapes) +
                       picture_text(margin, y + 45, "quiet", row.note, 40) +
                       picture_text(right, y + 45, "quiet", row.detail, 56, true);
  if (!row.ratio) return result;
  return result + picture_text(picture_width / 2 + 60, y + 16,
                               std::string("strong ") + ratio_class(*row.ratio),
                               fmt::format("{:.2f} of HIP", *row.ratio), 24, true);
}

}  // namespace

std::string html_report(benchmark_run const& run, benchmark_run const* before) {
  run_environment const& environment = run.environment;
  auto findings = findings_of(run);
  std::string changes_html;
  if (before != nullptr) {
    comparison const changes = compare(*before, run, tolerance);
    bool const is_bad = changes.count(change::wrong_data) + changes.count(change::slower) != 0;
    for (std::string const& text : changes.warnings)
      findings.insert(findings.begin(), {finding_kind::bad, "Warning: " + text});
    findings.insert(findings.begin(),
                    {is_bad ? finding_kind::bad : finding_kind::good,
                     "Compared with the earlier run: " + (changes.cases.empty()
                                                              ? "no case in common at the same size"
                                                              : verdict_line(changes, tolerance))});
    changes_html = change_section(changes, before->environment.date);
  }
  std::string body = fmt::format("<h1>{}</h1>\n", escape(environment.device_name));
  std::string css_class = "verdict ";
  for (finding const& entry : findings) {
    if (entry.kind == finding_kind::bad) css_class += "bad";
    body += paragraph(css_class.c_str(), entry.text);
    css_class.clear();
  }
  body += paragraph("", fmt::format("rocbench {}, {}, on {}. Every sample is compared with its "
                                    "pattern.",
                                    environment.version, environment.date, environment.host_name));
  std::vector<case_pair> pairs = pair_cases(run);
  // Their matrices say more than a row for each pair of devices.
  std::erase_if(pairs,
                [](case_pair const& pair) { return pair.shown().back()->devices.has_value(); });
  body += changes_html + rate_section(pairs, true) + rate_section(pairs, false) +
          size_section(pairs) + time_section(pairs) + matrix_section(run) +
          several_devices_section(run) + collective_section(run) + figures_section(run) +
          machine_section(run);
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>rocbench: {}</title>
<style>
{}</style>
</head>
<body>
{}</body>
</html>
)",
                     escape(environment.device_name), style(page_layout), body);
}

std::string svg_report(benchmark_run const& run) {
  std::vector<case_pair> pairs = pair_cases(run);
  std::erase_if(pairs, [](case_pair const& pair) {
    return counts_time(pair) || !pair.shown().back()->physical_limit.rate;
  });
  if (pairs.empty()) return "";
  run_environment const& environment = run.environment;
  std::string picture =
      picture_text(margin, 30, "title", environment.device_name, 50) +
      picture_text(margin, 48, "quiet",
                   fmt::format("rocbench {}, {}, every sample verified. GB = 1e9 bytes.",
                               environment.version, environment.date.substr(0, 10)),
                   90);
  double y = 66;
  for (finding const& entry : findings_of(run)) {
    if (entry.kind == finding_kind::good) continue;
    picture +=
        picture_text(margin, y, entry.kind == finding_kind::bad ? "bad" : "quiet", entry.text, 90);
    y += 16;
  }
  auto const add_key = [&](char const* css_class, double x, double width, char const* text) {
    picture += picture_shapes(x, y - 10, width, rectangle(css_class, 0, 1, 0, 1)) +
               picture_text(x + 15, y, "quiet", text, 60);
  };
  add_key("library", margin, 10, "rocarray; line: 5th to 95th percentile");
  add_key("raw", margin + 262, 10, "HIP's own call, or plain pointers");
  y += 16;
  add_key("limit", margin, 1.5, "the physical limit");
  y += 10;
  for (case_pair const& pair : pairs) {
    picture += picture_row(rate_row(pair, efficiency_at_end(pairs)), y);
    y += row_height;
  }
  double const height = y + 8;
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" )"
                     R"(height="{1}" role="img">
<title>rocbench: {2}, rates as fractions of the physical limit</title>
<style>
{3}</style>
<rect class="page" x=".5" y=".5" width="{4}" height="{5}" rx="6"/>
{6}</svg>
)",
                     picture_width, height, escape(environment.device_name, 50),
                     style(picture_layout), picture_width - 1, height - 1, picture);
}

exit_code report(report_options const& options) {
  bool const is_single = options.later.empty();
  bool const is_picture = options.output.ends_with(".svg");
  if (is_picture && !is_single) {
    return fail(exit_code::usage,
                options.output +
                    ": a picture shows one run, but two were given; for both, use a "
                    "file name that does not end with .svg");
  }
  benchmark_run const first = read_run(options.results);
  std::string text;
  if (is_single) {
    text = is_picture ? svg_report(first) : html_report(first);
  } else {
    benchmark_run const later = read_run(options.later);
    for (std::string const& warning : compare(first, later, tolerance).warnings)
      fmt::print(stderr, "rocbench: warning: {}\n", warning);
    text = html_report(later, &first);
  }
  if (text.empty()) {
    return fail(exit_code::usage,
                options.results +
                    " has no rates with a known limit to draw; for other figures, "
                    "use a file name that does not end with .svg");
  }
  write_file(options.output, text);
  return exit_code::ok;
}

}  // namespace rocbench
