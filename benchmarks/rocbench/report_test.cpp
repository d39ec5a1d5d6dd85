// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "example_document.hpp"
#include "html.hpp"
#include "report_parts.hpp"

namespace rocbench {
namespace {

document with_sizes() {
  document result = example_document();
  for (std::size_t bytes = 4096; bytes <= (16 << 20); bytes *= 16) {
    for (char const* name : {"d2h/pageable", "raw/d2h/pageable"}) {
      result.results.push_back(example_result(name, bytes, 1e9 + 2e3 * static_cast<double>(bytes)));
      if (bytes > 4096) result.results.back().path = "staged";
    }
  }
  result.results.push_back(example_result("latency/h2d/pinned", 4, 1e6));
  result.results.back().counted = accounting::time;
  result.results.back().physical = {};
  return result;
}

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Every element that is opened is closed, in order.
void expect_well_formed(std::string const& page) {
  std::vector<std::string> open;
  std::regex const tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
    std::string const name = (*at)[2];
    if (name == "meta" || (*at)[3] == "/") continue;
    if ((*at)[1] == "") {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    ASSERT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(report, is_a_well_formed_page_that_needs_nothing_else) {
  for (std::string const& page :
       {html_report(with_sizes()), html_report(with_sizes(), with_sizes()),
        html_report(document{})}) {
    expect_well_formed(page.substr(page.find("<html")));
    for (char const* foreign :
         {"<script", "http:", "https:", "url(", "@import", "src=", "onload"}) {
      EXPECT_FALSE(contains(page, foreign)) << foreign;
    }
    EXPECT_TRUE(contains(page, "prefers-color-scheme: dark"));
    EXPECT_TRUE(contains(page, "width=device-width"));
  }
}

TEST(report, shows_efficiency_rates_over_size_times_and_the_environment_in_this_order) {
  std::string const page = html_report(with_sizes());
  std::size_t before = 0;
  for (char const* part : {"How close to the limit", "Rate over size", "Latency and allocation",
                           "Every figure", "Where it was measured"}) {
    std::size_t const at = page.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_GT(at, before);
    before = at;
  }
  EXPECT_FALSE(contains(page, "What changed"));
  EXPECT_TRUE(contains(page, "<b>32.00 GB/s, 50 %</b> of 64.00 (PCIe 5.0 x16)"));
  EXPECT_TRUE(contains(page, "width=\"500.0\""));  // the bar of 50 %
  EXPECT_TRUE(contains(page, ">staged</text>"));   // the path changes with the size
  EXPECT_TRUE(contains(page, "limit 64.00 (PCIe 5.0 x16)"));
  EXPECT_TRUE(contains(page, "4.00 µs"));
  EXPECT_TRUE(contains(page, "Example GPU"));
}

TEST(report, shows_the_rate_of_the_least_time_where_that_was_asked_for) {
  document loops = example_document();
  loops.results = {example_result("stream/triad", 1 << 20, 2e9)};
  loops.results[0].measured.loop = {1e-3, 4e-3, 2e-3};
  loops.results[0].measured.loop_rate = 48e9;
  loops.results.push_back(example_result("raw/stream/triad", 1 << 20, 49e9));
  loops.results[1].path = "kernel, pointers";
  std::string const page = html_report(loops);
  EXPECT_TRUE(contains(page, "<b>48.00 GB/s, 75 %</b>"));
  EXPECT_TRUE(contains(page, "least time"));
  EXPECT_TRUE(contains(page, "48.00 GB/s (least time)"));
  EXPECT_TRUE(contains(page, "; pointers 49.00"));
}

TEST(report, shows_wrong_data_and_what_was_not_measured) {
  std::string const page = html_report(example_document());
  EXPECT_TRUE(contains(page, "<p class=\"warning\">d2d/copy: sample 1: payload byte 7"));
  EXPECT_TRUE(contains(page, "skipped: no &quot;managed&quot; memory"));
}

TEST(report, of_two_runs_shows_what_changed) {
  document later = with_sizes();
  later.results[0] = example_result("h2d/pinned", 1 << 20, 16e9);
  later.where.driver_version = 1;
  std::string const page = html_report(later, with_sizes());
  EXPECT_TRUE(contains(page, "What changed"));
  EXPECT_TRUE(contains(page, "-50.0 %, slower"));
  EXPECT_TRUE(contains(page, "<rect class=\"slower\""));
  EXPECT_TRUE(contains(page, "Another driver: 13010 before, 1 now"));
}

TEST(report, of_two_noisy_runs_shows_the_change_as_unclear) {
  document before;
  before.results = {example_result("h2d/pinned", 1 << 20, 50e9)};
  document later = before;
  later.results = {example_result("h2d/pinned", 1 << 20, 40e9)};
  EXPECT_TRUE(contains(html_report(later, before), "<rect class=\"slower\""));
  // Each median lies within the spread of the other run.
  before.results[0].measured.noisy = true;
  summary& was = before.results[0].measured.seconds;
  summary& is = later.results[0].measured.seconds;
  was.p95 = is.median * 1.05;
  is.p5 = was.median * 0.95;
  std::string const page = html_report(later, before);
  EXPECT_TRUE(contains(page, "<rect class=\"unclear\""));
  EXPECT_TRUE(contains(page, "<small>1 MiB, noisy</small>"));
  EXPECT_TRUE(contains(page, "-20.0 %, unclear</b> -20.3 % to +5.3 %"));
  EXPECT_FALSE(contains(page, "<rect class=\"slower\""));
}

TEST(report, escapes_what_files_say) {
  document hostile = example_document();
  hostile.where.device_name = "<script>alert('&\"')</script>";
  hostile.results[0].name = "<img src=x>";
  hostile.results[0].path = "\"><b>";
  std::string const page = html_report(hostile);
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "<img"));
  EXPECT_TRUE(contains(page, "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"));
  expect_well_formed(page.substr(page.find("<html")));
}

TEST(report, says_so_where_figures_mean_nothing) {
  document twin = example_document();
  twin.where.on_gpu = false;
  EXPECT_TRUE(contains(html_report(twin), "these figures say nothing about a GPU"));
  twin.where.is_fake_runtime = true;
  EXPECT_TRUE(contains(html_report(twin), "these figures mean nothing"));
}

TEST(report_pairs, put_hips_call_beside_the_librarys_and_sort_sizes) {
  document run;
  run.results = {example_result("raw/a", 8, 1), example_result("a", 16, 1),
                 example_result("a", 8, 1), example_result("raw/b", 8, 1)};
  auto const pairs = pairs_of(run);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "a");
  ASSERT_EQ(pairs[0].library.size(), 2u);
  EXPECT_EQ(pairs[0].library[0]->bytes, 8u);
  EXPECT_EQ(pairs[0].raw.size(), 1u);
  EXPECT_TRUE(pairs[1].library.empty());
}

}  // namespace
}  // namespace rocbench
