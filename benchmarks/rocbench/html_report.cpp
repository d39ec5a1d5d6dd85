// SPDX-License-Identifier: MIT
#include "html_report.hpp"

#include <fmt/format.h>

#include "case_pairs.hpp"
#include "comparison.hpp"
#include "html.hpp"
#include "report_bars.hpp"
#include "report_tables.hpp"
#include "report_warnings.hpp"

namespace rocbench {
namespace {

constexpr double tolerance = 0.02;

std::string warning_html(std::string const& text) {
  return fmt::format("<p class=\"warning\">{}</p>\n", escape_html(text));
}

std::string changes_section(benchmark_run const& before, benchmark_run const& run) {
  comparison const changes = compare(before, run, tolerance);
  std::string result;
  for (std::string const& line : changes.differences) result += warning_html("Different " + line);
  return result + change_bars(changes);
}

}  // namespace

std::string html_report(benchmark_run const& run, std::optional<benchmark_run> const& before) {
  std::string const title = "rocbench: " + run.environment.device_name;
  auto const pairs = pair_cases(run);
  std::string body =
      fmt::format("<h1>{}</h1>\n<p>Memory transfers, every sample verified. {}</p>\n",
                  escape_html(run.environment.device_name), escape_html(run.environment.date));
  for (std::string const& line : report_warnings(run)) body += warning_html(line);
  if (before) {
    body += html_section("Changes", "Since " + escape_html(before->environment.date) + ".",
                         changes_section(*before, run));
  }
  body += html_section("Efficiency", "", efficiency_bars(pairs));
  body += html_section(
      "Rate over size",
      "The solid line is the library, the dashed line is the raw call. The labels at the top "
      "name the path that the library takes from that size on. The dotted red line "
      "is the physical limit.",
      size_charts(pairs));
  body += html_section("Latency and allocation", "", time_bars(pairs));
  body += html_section("All figures", "", figures_table(run));
  body += html_section("Environment", "", environment_table(run));
  return html_page(title, body);
}

}  // namespace rocbench
