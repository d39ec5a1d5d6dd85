// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "comparison.hpp"
#include "html.hpp"
#include "report_parts.hpp"

namespace rocbench {
namespace {

constexpr double tolerance = 0.02;

std::string warning(std::string const& text) {
  return fmt::format("<p class=\"warning\">{}</p>\n", escape_html(text));
}

std::string changes_since(document const& before, document const& of) {
  comparison const since = compare(before, of, tolerance);
  std::string result;
  for (std::string const& each : since.differences) result += warning("Another " + each);
  return result + changes_part(since);
}

}  // namespace

std::vector<std::string> warnings_of(document const& of) {
  std::vector<std::string> result;
  if (of.where.is_fake_runtime) {
    result.emplace_back("The CPU double of AMD's runtime: these figures mean nothing.");
  } else if (!of.where.on_gpu) {
    result.emplace_back("The CPU plays the device: these figures say nothing about a GPU.");
  }
  for (case_result const& each : of.results) {
    if (each.measured.mismatch) result.push_back(each.name + ": " + *each.measured.mismatch);
  }
  return result;
}

std::string html_report(document const& of, std::optional<document> const& before) {
  std::string const title = "rocbench: " + of.where.device_name;
  auto const pairs = pairs_of(of);
  std::string body =
      fmt::format("<h1>{}</h1>\n<p>Memory transfers, every sample verified. {}</p>\n",
                  escape_html(of.where.device_name), escape_html(of.where.date));
  for (std::string const& each : warnings_of(of)) body += warning(each);
  if (before) {
    body += html_section("What changed", "Since " + escape_html(before->where.date) + ".",
                         changes_since(*before, of));
  }
  body += html_section("How close to the limit", "", efficiency_part(pairs));
  body += html_section("Rate over size",
                       "The library's line is whole, the raw one is dashed; above stands the path "
                       "that the library takes from there on, dotted red is the physical limit.",
                       sizes_part(pairs));
  body += html_section("Latency and allocation", "", times_part(pairs));
  body += html_section("Every figure", "", figures_part(of));
  body += html_section("Where it was measured", "", environment_part(of));
  return html_page(title, body);
}

}  // namespace rocbench
