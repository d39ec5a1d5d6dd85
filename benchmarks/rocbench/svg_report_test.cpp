// SPDX-License-Identifier: MIT
#include <regex>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "example_document.hpp"
#include "report.hpp"

namespace rocbench {
namespace {

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

document with_raw() {
  document result;
  result.where.device_name = "Example GPU";
  result.where.on_gpu = true;
  result.results = {example_result("h2d/pinned", 1 << 20, 32e9),
                    example_result("raw/h2d/pinned", 1 << 20, 16e9),
                    example_result("fill/byte", 1 << 20, 96e9)};
  return result;
}

TEST(svg_report, is_a_picture_that_needs_nothing_else) {
  std::string const picture = svg_report(with_raw());
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  std::string const rest = picture.substr(40);  // the name of the format is no address
  for (char const* foreign : {"<script", "http", "url(", "@import", "href", "src=", "onload"}) {
    EXPECT_FALSE(contains(rest, foreign)) << foreign;
  }
  EXPECT_TRUE(contains(picture, "@media (prefers-color-scheme: dark)"));
  EXPECT_TRUE(contains(picture, "font-family: system-ui, sans-serif"));
}

// Of 524 units: half of the limit, a quarter by HIP, and what is beyond it cut off there.
TEST(svg_report, draws_shares_of_the_limit) {
  std::string const picture = svg_report(with_raw());
  EXPECT_TRUE(contains(picture, ">h2d/pinned</text>"));
  EXPECT_TRUE(contains(picture, ">32.00 GB/s, 50 %</text>"));
  EXPECT_TRUE(contains(picture, ">of 64.00 (PCIe 5.0 x16); HIP 16.00</text>"));
  auto const bar = [&](char const* kind, char const* width) {
    return std::regex_search(picture, std::regex("class=\"" + std::string(kind) +
                                                 "\" [^>]*width=\"" + width + "\" height=\""));
  };
  EXPECT_TRUE(bar("library", "262[.]0"));
  EXPECT_TRUE(bar("raw", "131[.]0"));
  EXPECT_TRUE(bar("library", "524[.]0"));
  EXPECT_FALSE(contains(picture, ">raw/"));
}

TEST(svg_report, says_what_is_wrong_or_means_nothing) {
  document run = with_raw();
  run.where.on_gpu = false;
  run.results.push_back(example_result("d2h/pinned", 1 << 20, 1e9));
  run.results.back().measured.mismatch = "sample 1: payload byte 7 is 0x80, not 0x81";
  std::string const picture = svg_report(run);
  EXPECT_TRUE(contains(picture, "these figures say nothing about a GPU"));
  EXPECT_TRUE(contains(picture, "class=\"bad\""));
  EXPECT_TRUE(contains(picture, "d2h/pinned: sample 1: payload byte 7"));
  EXPECT_FALSE(contains(picture, ">d2h/pinned</text>"));
}

TEST(svg_report, of_a_run_without_rates_is_empty) {
  document times = with_raw();
  for (case_result& each : times.results) each.counted = accounting::time;
  EXPECT_EQ(svg_report(times), "");
  EXPECT_EQ(svg_report(document{}), "");
}

// A file of XML that has a letter which XML has not is shown by no browser.
TEST(svg_report, is_xml_whatever_files_say) {
  document hostile = with_raw();
  hostile.where.device_name = "<script>&\"'\x01\n\x1b\xEF\xBF\xBF]]>";
  hostile.results[0].name = std::string(1000, 'x');
  for (int i = 0; i < 100; ++i) hostile.results[2].path += "ö";
  std::string const picture = svg_report(hostile);
  EXPECT_TRUE(contains(picture, "&lt;script&gt;&amp;&quot;&#39;????]]&gt;"));
  EXPECT_TRUE(contains(picture, ">" + std::string(36, 'x') + "…</text>"));
  EXPECT_TRUE(contains(picture, "ö…</text>"));
  for (char const each : picture) {
    EXPECT_TRUE(each == '\n' || static_cast<unsigned char>(each) >= 0x20);
  }
}

}  // namespace
}  // namespace rocbench
