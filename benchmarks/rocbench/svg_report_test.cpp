// SPDX-License-Identifier: MIT
#include "svg_report.hpp"

#include <regex>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "example_run.hpp"

namespace rocbench {
namespace {

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

benchmark_run run_with_raw() {
  benchmark_run result;
  result.environment.device_name = "Example GPU";
  result.environment.on_gpu = true;
  result.results = {example_result("h2d/pinned", 1 << 20, 32e9),
                    example_result("raw/h2d/pinned", 1 << 20, 16e9),
                    example_result("fill/byte", 1 << 20, 96e9)};
  return result;
}

TEST(SvgReport, HasNoExternalResources) {
  std::string const picture = svg_report(run_with_raw());
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  std::string const content = picture.substr(40);  // without the XML namespace
  for (char const* external : {"<script", "http", "url(", "@import", "href", "src=", "onload"}) {
    EXPECT_FALSE(contains(content, external)) << external;
  }
  EXPECT_TRUE(contains(picture, "@media (prefers-color-scheme: dark)"));
  EXPECT_TRUE(contains(picture, "font-family: system-ui, sans-serif"));
}

// The full width is 524 units: 50 % for the library, 25 % for HIP; rates above the limit are cut
// off.
TEST(SvgReport, DrawsFractionsOfLimit) {
  std::string const picture = svg_report(run_with_raw());
  EXPECT_TRUE(contains(picture, ">h2d/pinned</text>"));
  EXPECT_TRUE(contains(picture, ">32.00 GB/s, 50 %</text>"));
  EXPECT_TRUE(contains(picture, ">of 64.00 (PCIe 5.0 x16); HIP 16.00</text>"));
  auto const has_bar = [&](char const* css_class, char const* width) {
    return std::regex_search(picture, std::regex("class=\"" + std::string(css_class) +
                                                 "\" [^>]*width=\"" + width + "\" height=\""));
  };
  EXPECT_TRUE(has_bar("library", "262[.]0"));
  EXPECT_TRUE(has_bar("raw", "131[.]0"));
  EXPECT_TRUE(has_bar("library", "524[.]0"));
  EXPECT_FALSE(contains(picture, ">raw/"));
}

TEST(SvgReport, WarnsOfWrongDataAndMissingGpu) {
  benchmark_run run = run_with_raw();
  run.environment.on_gpu = false;
  run.results.push_back(example_result("d2h/pinned", 1 << 20, 1e9));
  run.results.back().measured.mismatch = "sample 1: payload byte 7 is 0x80, not 0x81";
  std::string const picture = svg_report(run);
  EXPECT_TRUE(contains(picture, "these are not figures of a GPU"));
  EXPECT_TRUE(contains(picture, "class=\"bad\""));
  EXPECT_TRUE(contains(picture, "d2h/pinned: sample 1: payload byte 7"));
  EXPECT_FALSE(contains(picture, ">d2h/pinned</text>"));
}

TEST(SvgReport, IsEmptyWithoutRates) {
  benchmark_run run = run_with_raw();
  for (case_result& character : run.results) character.counted = accounting::time;
  EXPECT_EQ(svg_report(run), "");
  EXPECT_EQ(svg_report(benchmark_run{}), "");
}

// Browsers refuse files with characters that XML does not allow.
TEST(SvgReport, IsValidXmlForAnyText) {
  benchmark_run run = run_with_raw();
  run.environment.device_name = "<script>&\"'\x01\n\x1b\xEF\xBF\xBF]]>";
  run.results[0].name = std::string(1000, 'x');
  for (int i = 0; i < 100; ++i) run.results[2].path += "ö";
  std::string const picture = svg_report(run);
  EXPECT_TRUE(contains(picture, "&lt;script&gt;&amp;&quot;&#39;????]]&gt;"));
  EXPECT_TRUE(contains(picture, ">" + std::string(36, 'x') + "…</text>"));
  EXPECT_TRUE(contains(picture, "ö…</text>"));
  for (char const character : picture) {
    EXPECT_TRUE(character == '\n' || static_cast<unsigned char>(character) >= 0x20);
  }
}

}  // namespace
}  // namespace rocbench
