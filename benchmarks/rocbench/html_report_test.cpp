// SPDX-License-Identifier: MIT
#include "html_report.hpp"

#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "case_pairs.hpp"
#include "example_run.hpp"
#include "html.hpp"

namespace rocbench {
namespace {

benchmark_run run_with_sizes() {
  benchmark_run result = example_run();
  for (std::size_t bytes = 4096; bytes <= (16 << 20); bytes *= 16) {
    for (char const* name : {"d2h/pageable", "raw/d2h/pageable"}) {
      result.results.push_back(example_result(name, bytes, 1e9 + 2e3 * static_cast<double>(bytes)));
      if (bytes > 4096) result.results.back().path = "staged";
    }
  }
  result.results.push_back(example_result("latency/h2d/pinned", 4, 1e6));
  result.results.back().counted = accounting::time;
  result.results.back().physical_limit = {};
  return result;
}

bool contains(std::string const& text, std::string_view heading) {
  return text.find(heading) != std::string::npos;
}

// Checks that elements are closed in the order in which they are nested.
void expect_well_formed(std::string const& page) {
  std::vector<std::string> open;
  std::regex const tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  for (std::sregex_iterator position(page.begin(), page.end(), tag), end; position != end;
       ++position) {
    std::string const name = (*position)[2];
    if (name == "meta" || (*position)[3] == "/") continue;
    if ((*position)[1] == "") {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    ASSERT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(HtmlReport, IsWellFormedWithoutExternalResources) {
  for (std::string const& page :
       {html_report(run_with_sizes()), html_report(run_with_sizes(), run_with_sizes()),
        html_report(benchmark_run{})}) {
    expect_well_formed(page.substr(page.find("<html")));
    for (char const* external :
         {"<script", "http:", "https:", "url(", "@import", "src=", "onload"}) {
      EXPECT_FALSE(contains(page, external)) << external;
    }
    EXPECT_TRUE(contains(page, "prefers-color-scheme: dark"));
    EXPECT_TRUE(contains(page, "width=device-width"));
  }
}

TEST(HtmlReport, HasSectionsInOrder) {
  std::string const page = html_report(run_with_sizes());
  std::size_t previous = 0;
  for (char const* heading :
       {"Efficiency", "Rate over size", "Latency and allocation", "All figures", "Environment"}) {
    std::size_t const position = page.find(heading);
    ASSERT_NE(position, std::string::npos) << heading;
    EXPECT_GT(position, previous);
    previous = position;
  }
  EXPECT_FALSE(contains(page, "<h2>Changes"));
  EXPECT_TRUE(contains(page, "<b>32.00 GB/s, 50 %</b> of 64.00 (PCIe 5.0 x16)"));
  EXPECT_TRUE(contains(page, "width=\"500.0\""));  // bar of 50 %
  EXPECT_TRUE(contains(page, ">staged</text>"));   // path from that size on
  EXPECT_TRUE(contains(page, "limit 64.00 (PCIe 5.0 x16)"));
  EXPECT_TRUE(contains(page, "4.00 µs"));
  EXPECT_TRUE(contains(page, "Example GPU"));
}

TEST(HtmlReport, ShowsFastestExecutionIfRequested) {
  benchmark_run run = example_run();
  run.results = {example_result("stream/triad", 1 << 20, 2e9)};
  run.results[0].measured.loop = {1e-3, 4e-3, 2e-3};
  run.results[0].measured.loop_rate = 48e9;
  run.results.push_back(example_result("raw/stream/triad", 1 << 20, 49e9));
  run.results[1].path = "kernel, pointers";
  std::string const page = html_report(run);
  EXPECT_TRUE(contains(page, "<b>48.00 GB/s, 75 %</b>"));
  EXPECT_TRUE(contains(page, "shortest time"));
  EXPECT_TRUE(contains(page, "48.00 GB/s (shortest time)"));
  EXPECT_TRUE(contains(page, "; pointers 49.00"));
}

TEST(HtmlReport, ShowsWrongDataAndUnmeasuredCases) {
  std::string const page = html_report(example_run());
  EXPECT_TRUE(contains(page, "<p class=\"warning\">d2d/copy: sample 1: payload byte 7"));
  EXPECT_TRUE(contains(page, "skipped: no &quot;managed&quot; memory"));
}

TEST(HtmlReport, OfTwoRunsShowsChanges) {
  benchmark_run after = run_with_sizes();
  after.results[0] = example_result("h2d/pinned", 1 << 20, 16e9);
  after.environment.driver_version = 1;
  std::string const page = html_report(after, run_with_sizes());
  EXPECT_TRUE(contains(page, "<h2>Changes"));
  EXPECT_TRUE(contains(page, "-50.0 %, slower"));
  EXPECT_TRUE(contains(page, "<rect class=\"slower\""));
  EXPECT_TRUE(contains(page, "Different driver: 13010 before, 1 now"));
}

TEST(HtmlReport, OfTwoNoisyRunsShowsUnclearChange) {
  benchmark_run previous;
  previous.results = {example_result("h2d/pinned", 1 << 20, 50e9)};
  benchmark_run after = previous;
  after.results = {example_result("h2d/pinned", 1 << 20, 40e9)};
  EXPECT_TRUE(contains(html_report(after, previous), "<rect class=\"slower\""));
  // Each median is within the spread of the other run.
  previous.results[0].measured.noisy = true;
  summary& before_seconds = previous.results[0].measured.seconds;
  summary& after_seconds = after.results[0].measured.seconds;
  before_seconds.p95 = after_seconds.median * 1.05;
  after_seconds.p5 = before_seconds.median * 0.95;
  std::string const page = html_report(after, previous);
  EXPECT_TRUE(contains(page, "<rect class=\"unclear\""));
  EXPECT_TRUE(contains(page, "<small>1 MiB, noisy</small>"));
  EXPECT_TRUE(contains(page, "-20.0 %, unclear</b> -20.3 % to +5.3 %"));
  EXPECT_FALSE(contains(page, "<rect class=\"slower\""));
}

TEST(HtmlReport, EscapesTexts) {
  benchmark_run run = example_run();
  run.environment.device_name = "<script>alert('&\"')</script>";
  run.results[0].name = "<img src=x>";
  run.results[0].path = "\"><b>";
  std::string const page = html_report(run);
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "<img"));
  EXPECT_TRUE(contains(page, "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"));
  expect_well_formed(page.substr(page.find("<html")));
}

TEST(HtmlReport, WarnsIfDeviceIsNoGpu) {
  benchmark_run run = example_run();
  run.environment.on_gpu = false;
  EXPECT_TRUE(contains(html_report(run), "these are not figures of a GPU"));
  run.environment.is_fake_runtime = true;
  EXPECT_TRUE(contains(html_report(run), "these figures are meaningless"));
}

TEST(PairCases, PairsLibraryWithRawAndSortsSizes) {
  benchmark_run run;
  run.results = {example_result("raw/a", 8, 1), example_result("a", 16, 1),
                 example_result("a", 8, 1), example_result("raw/b", 8, 1)};
  auto const pairs = pair_cases(run);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "a");
  ASSERT_EQ(pairs[0].library.size(), 2u);
  EXPECT_EQ(pairs[0].library[0]->bytes, 8u);
  EXPECT_EQ(pairs[0].raw.size(), 1u);
  EXPECT_TRUE(pairs[1].library.empty());
}

}  // namespace
}  // namespace rocbench
