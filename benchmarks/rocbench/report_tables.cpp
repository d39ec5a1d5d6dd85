// SPDX-License-Identifier: MIT
#include "report_tables.hpp"

#include <fmt/format.h>

#include "format.hpp"
#include "html.hpp"
#include "size_chart.hpp"

namespace rocbench {
namespace {

std::string table_cell(std::string const& text, char const* css_class = "") {
  return fmt::format("<td class=\"{}\">{}</td>", css_class, escape_html(text));
}

std::string table_row(char const* name, std::string const& value) {
  return fmt::format("<tr><th>{}</th>{}</tr>\n", name, table_cell(value));
}

std::string limit_text(rate_limit const& limit) {
  return limit.rate ? format_rate(*limit.rate) + " GB/s, " + limit.origin
                    : "unknown: " + limit.origin;
}

std::string figure_row(case_result const& result) {
  std::string row = "<tr>" + table_cell(result.name) +
                    table_cell(format_size(static_cast<double>(result.bytes)), "number");
  if (result.status != outcome::measured) {
    return row + fmt::format("<td colspan=\"7\">{}: {}</td></tr>\n",
                             result.status == outcome::skipped ? "skipped" : "failed",
                             escape_html(result.reason));
  }
  measurement const& measured = result.measured;
  bool const is_time = result.counted == accounting::time;
  auto const text = [&](double rate, double seconds) {
    return is_time ? format_time(seconds) : format_rate(rate) + " GB/s";
  };
  row += table_cell(text(measured.reported_rate(), measured.reported_seconds()) +
                        (measured.loop ? " (shortest time)" : ""),
                    "number");
  row += table_cell(text(measured.rate.p5, measured.seconds.p5) + " to " +
                        text(measured.rate.p95, measured.seconds.p95),
                    "number");
  row += table_cell(result.physical_limit.rate ? format_rate(*result.physical_limit.rate)
                    : is_time                  ? ""
                                               : "unknown",
                    "number");
  row += table_cell(to_string(result.counted)) + table_cell(result.path);
  row += table_cell(fmt::format("{}{}", measured.seconds.count, measured.noisy ? ", noisy" : ""));
  return row + table_cell(measured.mismatch ? "NO: " + *measured.mismatch : "yes") + "</tr>\n";
}

}  // namespace

std::string size_charts(std::vector<case_pair> const& pairs) {
  constexpr std::size_t min_sizes = 3;  // a chart needs at least this number of sizes
  std::string charts;
  for (case_pair const& pair : pairs) {
    auto const& longer = pair.library.size() >= pair.raw.size() ? pair.library : pair.raw;
    if (longer.size() < min_sizes || longer.front()->counted == accounting::time) continue;
    charts += fmt::format("<div><h3>{}</h3>{}</div>\n", escape_html(pair.name),
                          svg_size_chart(pair.library, pair.raw));
  }
  return charts.empty() ? "" : "<div class=\"charts\">\n" + charts + "</div>\n";
}

std::string figures_table(benchmark_run const& run) {
  std::string rows;
  for (case_result const& result : run.results) rows += figure_row(result);
  if (rows.empty()) return "";
  return "<div class=\"scroll\"><table>\n<tr><th>case</th><th class=\"number\">size</th>"
         "<th class=\"number\">median</th><th class=\"number\">p5 to p95</th>"
         "<th class=\"number\">limit</th><th>counted</th><th>path</th><th>samples</th>"
         "<th>verified</th></tr>\n" +
         rows + "</table></div>\n";
}

std::string environment_table(benchmark_run const& run) {
  run_environment const& environment = run.environment;
  std::string rows;
  rows += table_row("device", environment.device_name);
  rows += table_row("platform", environment.platform);
  rows += table_row("bus", environment.pci_bus_id);
  rows += table_row("driver", fmt::format("{}", environment.driver_version));
  rows += table_row("runtime", fmt::format("{}", environment.runtime_version));
  if (environment.on_gpu) {
    rows += table_row("link, one way", limit_text(run.limits.link));
    rows += table_row("device memory", limit_text(run.limits.device_memory));
  } else {
    rows += table_row("host memory", limit_text(run.limits.host_copy));
  }
  rows += table_row("host", environment.host_name);
  rows += table_row("date", environment.date);
  rows += table_row("rocbench", environment.version);
  return "<table class=\"facts\">\n" + rows + "</table>\n";
}

}  // namespace rocbench
