// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <regex>
#include <vector>

#include <gtest/gtest.h>

#include "example_run.hpp"

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

benchmark_run run_with_raw() {
  benchmark_run result = example_run();
  result.results = {example_result("h2d/pinned", 1 << 20, 32e9),
                    example_result("raw/h2d/pinned", 1 << 20, 16e9)};
  return result;
}

std::size_t count(std::string const& text, std::string_view part) {
  std::size_t result = 0;
  for (auto i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++result;
  return result;
}
// Checks that elements are closed in the order in which they are nested.
void expect_well_formed(std::string const& document) {
  std::vector<std::string> open;
  std::regex const tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  for (std::sregex_iterator position(document.begin(), document.end(), tag), end; position != end;
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

TEST(Report, IsWellFormedWithoutExternalResources) {
  benchmark_run const run = run_with_sizes();
  std::string const picture = svg_report(run);
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  for (std::string const& page : {html_report(run), html_report(run, &run),
                                  html_report(benchmark_run{}), "<svg " + picture.substr(39)}) {
    expect_well_formed(page.substr(page.find(page[1] == '!' ? "<html" : "<svg")));
    for (char const* external :
         {"<script", "http:", "https:", "url(", "@import", "href", "src=", "onload"}) {
      expect_parts(page, {external}, false);
    }
    expect_parts(page, {"@media (prefers-color-scheme: dark)"});
  }
  expect_parts(html_report(run), {"width=device-width"});
}

TEST(Report, HasVerdictAndSectionsInOrder) {
  std::string const page = html_report(run_with_sizes());
  std::size_t previous = 0;
  for (char const* part :
       {"<p class=\"verdict bad\">Wrong data: 1 of 11 (d2d/copy at 1 MiB)", ">Efficiency<",
        ">Rate over size<", ">Latency and allocation<", ">All figures<", ">Where it was measured<",
        "Example CPU", "345 MHz before the run, 1980 MHz after it"}) {
    std::size_t const position = page.find(part);
    ASSERT_NE(position, std::string::npos) << part;
    EXPECT_GT(position, previous);
    previous = position;
  }
  expect_parts(page, {">Changes<"}, false);
  expect_parts(page, {"<b>32.00 GB/s, 50 %</b> of 64.00 (PCIe 5.0 x16)",
                      "class=\"library\" x=\"0.0\" y=\"0\" width=\"500.0\"", ">staged</span>",
                      "<polygon class=\"library\"", "GB/s over size; limit 64.00 (PCIe 5.0 x16)",
                      "<b>4.00 µs</b>", "skipped: no &quot;managed&quot; memory"});
}

TEST(Report, ShowsRatioBesideBar) {
  for (std::string const& text : {html_report(run_with_raw()), svg_report(run_with_raw())}) {
    expect_parts(text, {"2.00", "HIP 16.00"});
  }
}

TEST(Report, DrawsBarsBeyondLimitInFull) {
  benchmark_run run = run_with_raw();
  expect_parts(svg_report(run), {"class=\"library\" x=\"0.0\" y=\"0\" width=\"500.0\""});
  run.results.push_back(example_result("fill/byte", 1 << 20, 128e9, 0));
  for (std::string const& text : {svg_report(run), html_report(run)}) {
    expect_parts(text, {"class=\"library\" x=\"0.0\" y=\"0\" width=\"1000.0\"",
                        "class=\"library\" x=\"0.0\" y=\"0\" width=\"250.0\""});
  }
  expect_parts(html_report(run), {"full width is 200 % of it"});
}

TEST(Report, DrawsNoEmptyBars) {
  benchmark_run run = run_with_raw();
  run.results.push_back(example_result("fill/float", 1 << 20, 1e9));
  for (case_result& result : run.results) result.physical_limit = {std::nullopt, "not reported"};
  std::string const page = html_report(run);
  expect_parts(page, {">Efficiency<"}, false);
  expect_parts(page, {">Rates without a known limit<"});
  EXPECT_EQ(count(page, "class=\"track\""), 1u);  // only the row with two bars
  EXPECT_EQ(svg_report(run), "");
  for (case_result& result : run.results) result.counted = accounting::time;
  EXPECT_EQ(svg_report(run), "");
}

TEST(Report, SaysNoisyOnce) {
  benchmark_run run = run_with_raw();
  for (case_result& result : run.results) result.measured.noisy = true;
  std::string const page = html_report(run);
  EXPECT_EQ(count(page, "Noisy: 2 of 2"), 1u);
  expect_parts(page, {"noisy"}, false);
}

TEST(Report, ShowsFastestExecutionIfRequested) {
  benchmark_run run = run_with_raw();
  run.results[0].measured.loop = {1e-3, 4e-3, 2e-3};
  run.results[0].measured.loop_rate = 48e9;
  run.results[1].path = "kernel, pointers";
  std::string const page = html_report(run);
  expect_parts(page, {"<b>48.00 GB/s, 75 %</b>", "48.00 GB/s (shortest time)", "; pointers 16.00"});
}

TEST(Report, OfTwoRunsStartsWithVerdictOfCompare) {
  benchmark_run const before = run_with_raw();
  benchmark_run after = before;
  after.results[0] = example_result("h2d/pinned", 1 << 20, 16e9);
  after.environment.driver_version = 1;
  after.environment.date = "2026-01-01T00:00:00+00:00";
  std::string const page = html_report(after, &before);
  expect_parts(page, {"<p class=\"verdict bad\">Compared with the earlier run: slower, on a "
                      "different device, driver or runtime: 1 of 2 (h2d/pinned)</p>",
                      "Warning: different driver: 13010 before, 1 now",
                      "Warning: the first file is the later run", "<b>-50.0 %, slower</b>",
                      "<rect class=\"slower\""});
}

// Each median is within the spread of the other run.
TEST(Report, OfTwoNoisyRunsShowsUnclearChange) {
  benchmark_run before = run_with_raw();
  before.results.resize(1);
  benchmark_run after = before;
  after.results[0] = example_result("h2d/pinned", 1 << 20, 25.6e9);
  before.results[0].measured.noisy = true;
  summary& before_seconds = before.results[0].measured.seconds;
  summary& after_seconds = after.results[0].measured.seconds;
  before_seconds.p95 = after_seconds.median * 1.05;
  after_seconds.p5 = before_seconds.median * 0.95;
  std::string const page = html_report(after, &before);
  expect_parts(page, {"<rect class=\"unclear\"", "-20.0 %, unclear</b> -20.3 % to +5.3 %"});
}

TEST(Report, WarnsIfDeviceIsNoGpu) {
  benchmark_run run = run_with_raw();
  run.environment.on_gpu = false;
  expect_parts(html_report(run), {"these are not figures of a GPU"});
  expect_parts(svg_report(run), {"these are not figures of a GPU"});
  run.environment.is_fake_runtime = true;
  expect_parts(html_report(run), {"these figures are meaningless"});
}

// Browsers refuse pictures with characters that XML does not allow.
TEST(Report, EscapesTexts) {
  benchmark_run run = run_with_raw();
  run.environment.device_name = "<script>&\"'\x01\n\x1b\xEF\xBF\xBF]]>";
  run.results[0].name = "<img src=x>" + std::string(100, 'x');
  for (int i = 0; i < 100; ++i) run.results[0].path += "ö";
  for (std::string const& text : {html_report(run), svg_report(run)}) {
    expect_parts(text, {"&lt;script&gt;&amp;&quot;&#39;????]]&gt;"});
    expect_parts(text, {"<script", "<img"}, false);
    for (char const character : text) {
      EXPECT_TRUE(character == '\n' || static_cast<unsigned char>(character) >= 0x20);
    }
  }
  expect_parts(svg_report(run), {"ö…</text>"});
}

}  // namespace
}  // namespace rocbench
