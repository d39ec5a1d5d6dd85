// SPDX-License-Identifier: MIT
// The parts of drawings over sizes and of tables: every figure, and where they were taken.
#include <fmt/format.h>

#include "format.hpp"
#include "html.hpp"
#include "report_parts.hpp"
#include "size_chart.hpp"

namespace rocbench {
namespace {

std::string cell(std::string const& text, char const* kind = "") {
  return fmt::format("<td class=\"{}\">{}</td>", kind, escape_html(text));
}

std::string fact(char const* name, std::string const& value) {
  return fmt::format("<tr><th>{}</th>{}</tr>\n", name, cell(value));
}

std::string limit_text(limit const& of) {
  return of.rate ? format_rate(*of.rate) + " GB/s, " + of.origin : "unknown: " + of.origin;
}

std::string figure_row(case_result const& of) {
  std::string row =
      "<tr>" + cell(of.name) + cell(format_size(static_cast<double>(of.bytes)), "number");
  if (of.ended != outcome::measured) {
    return row + fmt::format("<td colspan=\"7\">{}: {}</td></tr>\n",
                             of.ended == outcome::skipped ? "skipped" : "failed",
                             escape_html(of.problem));
  }
  measurement const& m = of.measured;
  bool const time = of.counted == accounting::time;
  auto const text = [&](double rate, double seconds) {
    return time ? format_time(seconds) : format_rate(rate) + " GB/s";
  };
  row += cell(text(m.shown_rate(), m.shown_seconds()) + (m.loop ? " (least time)" : ""), "number");
  row += cell(text(m.rate.p5, m.seconds.p5) + " to " + text(m.rate.p95, m.seconds.p95), "number");
  row += cell(of.physical.rate ? format_rate(*of.physical.rate) : time ? "" : "unknown", "number");
  row += cell(to_string(of.counted)) + cell(of.path);
  row += cell(fmt::format("{}{}", m.seconds.count, m.noisy ? ", noisy" : ""));
  return row + cell(m.mismatch ? "NO: " + *m.mismatch : "yes") + "</tr>\n";
}

}  // namespace

std::string sizes_part(std::vector<case_pair> const& pairs) {
  constexpr std::size_t fewest = 3;  // sizes that make a line
  std::string charts;
  for (case_pair const& each : pairs) {
    auto const& longer = each.library.size() >= each.raw.size() ? each.library : each.raw;
    if (longer.size() < fewest || longer.front()->counted == accounting::time) continue;
    charts += fmt::format("<div><h3>{}</h3>{}</div>\n", escape_html(each.name),
                          svg_size_chart(each.library, each.raw));
  }
  return charts.empty() ? "" : "<div class=\"charts\">\n" + charts + "</div>\n";
}

std::string figures_part(document const& of) {
  std::string rows;
  for (case_result const& each : of.results) rows += figure_row(each);
  if (rows.empty()) return "";
  return "<div class=\"scroll\"><table>\n<tr><th>case</th><th class=\"number\">size</th>"
         "<th class=\"number\">median</th><th class=\"number\">p5 to p95</th>"
         "<th class=\"number\">limit</th><th>counted</th><th>path</th><th>samples</th>"
         "<th>verified</th></tr>\n" +
         rows + "</table></div>\n";
}

std::string environment_part(document const& of) {
  environment const& where = of.where;
  std::string rows;
  rows += fact("device", where.device_name);
  rows += fact("platform", where.platform);
  rows += fact("bus", where.pci_bus_id);
  rows += fact("driver", fmt::format("{}", where.driver_version));
  rows += fact("runtime", fmt::format("{}", where.runtime_version));
  if (where.on_gpu) {
    rows += fact("link, one way", limit_text(of.known.link));
    rows += fact("device memory", limit_text(of.known.device_memory));
  } else {
    rows += fact("host memory", limit_text(of.known.host_copy));
  }
  rows += fact("host", where.host_name);
  rows += fact("date", where.date);
  rows += fact("rocbench", where.version);
  return "<table class=\"facts\">\n" + rows + "</table>\n";
}

}  // namespace rocbench
