// SPDX-License-Identifier: MIT
// The text output of a run, and the formats of its numbers.
#include "result_table.hpp"

#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "example_run.hpp"
#include "findings.hpp"
#include "format.hpp"

namespace rocbench {
namespace {

benchmark_run run_with_pairs() {
  benchmark_run run = example_run();
  run.results = {
      example_result("h2d/pinned", 4096, 20e9),     example_result("h2d/pinned", 1 << 20, 32e9),
      example_result("raw/h2d/pinned", 4096, 40e9), example_result("raw/h2d/pinned", 1 << 20, 30e9),
      example_result("fill/byte", 1 << 20, 96e9),
  };
  run.results[4].measured.noisy = true;
  return run;
}

// Returns what the table prints for the run.
std::string table_of(benchmark_run const& run, terminal shown_on = {}) {
  std::vector<benchmark_case> planned;
  for (case_result const& result : run.results) {
    planned.push_back({result.name, "", accounting::payload, limiting_resource::link, true, {}});
  }
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  result_table table(file, planned, shown_on);
  for (case_result const& result : run.results) table.print_row(result);
  table.finish(run);
  std::fclose(file);
  std::string result(text, size);
  std::free(text);
  return result;
}

TEST(ResultTable, PrintsLibraryAndHipInOneLine) {
  std::string const text = table_of(run_with_pairs());
  expect_parts(text,
               {"\nh2d/pinned                  4 KiB     20.00     40.00   0.50       "
                "31 %\nh2d/pinned                  1 MiB     32.00     30.00   1.07",
                "\nfill/byte                   1 MiB     96.00                     150 % !\n"});
  expect_parts(text, {"\nraw/", "\x1b"}, false);
}

TEST(ResultTable, FitsIn80Columns) {
  benchmark_run run = run_with_pairs();
  for (case_result const& result : example_run().results) run.results.push_back(result);
  run.results.back().reason = "short";
  std::istringstream lines(table_of(run));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 82u) << line;
  expect_parts(table_of(run, {.columns = 120}), {"31.87 to 32.13"});
}

TEST(ResultTable, ColorsRatiosOnTerminals) {
  std::string const text = table_of(run_with_pairs(), {.columns = 80, .has_color = true});
  expect_parts(text, {"\x1b[31m  0.50\x1b[0m", "\x1b[32m  1.07\x1b[0m"});
}

TEST(Terminal, HasColorAndWidthOfWindowUnlessVariablesDiffer) {
  int const controller = posix_openpt(O_RDWR | O_NOCTTY);
  if (controller < 0) GTEST_SKIP() << "no pseudo terminals";
  ASSERT_EQ(grantpt(controller), 0);
  ASSERT_EQ(unlockpt(controller), 0);
  winsize window{};
  window.ws_col = 132;
  ioctl(controller, TIOCSWINSZ, &window);
  std::FILE* const file = std::fopen(ptsname(controller), "w");
  ASSERT_NE(file, nullptr);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  unsetenv("COLUMNS");
  EXPECT_TRUE(terminal::of(file).has_color);
  EXPECT_EQ(terminal::of(file).columns, 132u);
  setenv("COLUMNS", "100", 1);
  EXPECT_EQ(terminal::of(file).columns, 100u);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(terminal::of(file).has_color);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(terminal::of(file).has_color);
  std::fclose(file);
  close(controller);
  std::FILE* const no_terminal = std::fopen("/dev/null", "w");
  setenv("TERM", "xterm", 1);
  unsetenv("COLUMNS");
  EXPECT_FALSE(terminal::of(no_terminal).has_color);
  EXPECT_EQ(terminal::of(no_terminal).columns, 80u);
  std::fclose(no_terminal);
}

TEST(ResultTable, PrintsResultWhoseCounterpartIsMissing) {
  benchmark_run run = run_with_pairs();
  case_result const library = run.results[0];
  run.results = {library};
  std::string const alone = table_of(run);
  expect_parts(alone, {"\nh2d/pinned                  4 KiB     20.00"});
  case_result raw = example_result("raw/h2d/pinned", 4096, 1e9);
  raw.status = outcome::skipped;
  raw.reason = "no such call";
  run.results.push_back(raw);
  std::string const skipped = table_of(run);
  expect_parts(skipped, {"raw/h2d/pinned              4 KiB skipped: no such call\n",
                         "\nh2d/pinned                  4 KiB     20.00"});
}

TEST(Findings, NameWorstAndBestRatioThenEachProblemOnce) {
  std::vector<finding> const findings = find_in(run_with_pairs());
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].text,
            "Data right: 5 of 5; speed relative to HIP: median 0.50, worst 0.50 (h2d/pinned at "
            "4 KiB), best 1.07 (h2d/pinned at 1 MiB)");
  EXPECT_EQ(findings[1].text, "Below 0.97 of HIP's speed: 1 of 2 (h2d/pinned at 4 KiB)");
  EXPECT_EQ(findings[2].text,
            "Above the physical limit: 1 of 5, so the limit is not theirs (fill/byte at 1 MiB)");
  EXPECT_EQ(findings[3].text,
            "Noisy: 1 of 5, with a median that is not known to 0.5 % (fill/byte at 1 MiB)");
}

TEST(Findings, StartWithWrongData) {
  std::vector<finding> const findings = find_in(example_run());
  EXPECT_EQ(findings.at(0).kind, finding_kind::bad);
  EXPECT_EQ(findings.at(0).text, "Wrong data: 1 of 2 (d2d/copy at 1 MiB)");
  EXPECT_EQ(findings.at(1).text, "Skipped: 1 of 4 (managed/fault at 4 KiB)");
  EXPECT_TRUE(find_in(benchmark_run{}).empty());
}

TEST(Findings, RatioOfTimesIsThatOfSpeeds) {
  case_result library = example_result("latency/a", 4, 1e6);
  case_result raw = example_result("raw/latency/a", 4, 2e6);
  EXPECT_DOUBLE_EQ(ratio_to(library, raw), 0.5);
  library.counted = raw.counted = accounting::time;
  EXPECT_DOUBLE_EQ(ratio_to(library, raw), 0.5);
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
  EXPECT_EQ(pairs[0].counterpart(*pairs[0].library[0]), &run.results[0]);
  EXPECT_EQ(pairs[0].counterpart(*pairs[0].library[1]), nullptr);
  EXPECT_EQ(pairs[1].shown().at(0), &run.results[3]);
}

TEST(Format, ChoosesUnitsAndDigitsByMagnitude) {
  EXPECT_EQ(format_size(17), "17 B");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(1ull << 50), "1024 TiB");
  EXPECT_EQ(format_rate(55.44e9), "55.44");
  EXPECT_EQ(format_rate(4087.06e9), "4087.1");
  EXPECT_EQ(format_rate(12.3e6), "0.0123");
  EXPECT_EQ(format_time(4.5e-9), "4.50 ns");
  EXPECT_EQ(format_time(12.34e-6), "12.3 µs");
  EXPECT_EQ(format_time(4567), "4567 s");
  EXPECT_EQ(format_fraction(0.876), "88 %");
  EXPECT_EQ(format_fraction(1.04), "104 % !");
  EXPECT_EQ(join_names({"a", "b"}), "a, b");
  EXPECT_EQ(join_names({"a", "b", "c", "d", "e", "f"}), "a, b, c, d, e and 1 more");
}

}  // namespace
}  // namespace rocbench
