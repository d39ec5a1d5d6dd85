// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "example_run.hpp"
#include "files.hpp"

namespace rocbench {
namespace {

// A case with its rates in GB/s before and after.
struct rates {
  char const* name;
  double before;
  double after;
  double width = 0.002;
};

// Compares two runs of the example's machine. The result is valid until the next call.
comparison compare_results(std::vector<case_result> const& before,
                           std::vector<case_result> const& after, int driver_after = 13010) {
  static benchmark_run runs[2];
  runs[0] = runs[1] = example_run();
  runs[0].results = before;
  runs[1].results = after;
  runs[1].environment.driver_version = driver_after;
  return compare(runs[0], runs[1], 0.02);
}

comparison compare_rates(std::vector<rates> const& cases, int driver_after = 13010) {
  std::vector<case_result> before;
  std::vector<case_result> after;
  for (rates const& entry : cases) {
    before.push_back(example_result(entry.name, 1 << 20, entry.before * 1e9, entry.width));
    after.push_back(example_result(entry.name, 1 << 20, entry.after * 1e9, entry.width));
  }
  return compare_results(before, after, driver_after);
}

TEST(Compare, VerdictFollowsFromIntervals) {
  struct {
    rates measured;
    change verdict;
  } const rows[] = {
      {{"x", 50, 50}, change::same},
      {{"x", 50, 50.5}, change::same},   // a real change, but within the tolerance
      {{"x", 50, 51}, change::unclear},  // the range contains the tolerance
      {{"x", 50, 52}, change::faster},
      {{"x", 50, 49}, change::unclear},
      {{"x", 50, 48}, change::slower},
      {{"x", 50, 48, 0.1}, change::unclear},  // noise
      {{"x", 50, 50, 0.1}, change::unclear},
  };
  for (auto const& [measured, verdict] : rows)
    EXPECT_EQ(compare_rates({measured}).cases.at(0).verdict, verdict) << measured.after;
  compared_case const changes = compare_rates({{"x", 50, 60, 0.01}}).cases.at(0);
  EXPECT_DOUBLE_EQ(changes.speed, 1.2);
  EXPECT_DOUBLE_EQ(changes.range.low, 1.2 * 0.99 / 1.01);
  EXPECT_DOUBLE_EQ(changes.range.high, 1.2 * 1.01 / 0.99);
}

// Times in seconds.
struct case_times {
  double median, p5, p95, low, high;
};

case_result timed_result(case_times const& times, bool noisy) {
  case_result result = example_result("x", 256 << 20, 50e9);
  result.measured.seconds = {20, times.median, times.p5, times.p95, {times.low, times.high}};
  result.measured.noisy = noisy;
  return result;
}

// Two identical runs on an H100.
constexpr case_times pinned_before{5.4283e-3, 4.9218e-3, 5.7797e-3, 5.1713e-3, 5.6059e-3};
constexpr case_times pinned_after{4.9867e-3, 4.9343e-3, 5.6069e-3, 4.9480e-3, 5.0272e-3};
constexpr case_times pageable_before{18.417e-3, 17.413e-3, 22.421e-3, 17.895e-3, 21.162e-3};
constexpr case_times pageable_after{22.245e-3, 20.016e-3, 30.399e-3, 21.797e-3, 23.081e-3};
// `wide` is outside the spread of `steady`, whose median is within the spread of `wide`. `beyond`
// and `steady` are each outside the other's spread. The samples of `spread` are spread, its
// interval is not. `few` has too few samples for an interval.
constexpr case_times steady{10, 9.9, 10.1, 9.95, 10.05};
constexpr case_times wide{12, 9, 13, 11.5, 12.5};
constexpr case_times beyond{12, 11, 13, 11.5, 12.5};
constexpr case_times spread{10, 9, 11, 9.99, 10.01};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr case_times few{20, 19, 21, -infinity, infinity};

compared_case compare_times(case_times const& before, bool before_is_noisy, case_times const& after,
                            bool after_is_noisy) {
  return compare_results({timed_result(before, before_is_noisy)},
                         {timed_result(after, after_is_noisy)})
      .cases.at(0);
}

// If one run is noisy, each median must be outside the other run's spread.
TEST(Compare, VerdictOfNoisyRunsFollowsFromSpreads) {
  struct {
    case_times before, after;
    change if_noisy, if_steady;
  } const rows[] = {
      {pinned_before, pinned_after, change::unclear, change::faster},
      {pinned_after, pinned_before, change::unclear, change::slower},
      {pageable_before, pageable_after, change::unclear, change::slower},
      {pageable_after, pageable_before, change::unclear, change::faster},
      {steady, wide, change::unclear, change::slower},
      {wide, steady, change::unclear, change::faster},
      {steady, beyond, change::slower, change::slower},
      {beyond, steady, change::faster, change::faster},
      {spread, spread, change::same, change::same},
      {few, steady, change::unclear, change::unclear},
      {steady, few, change::unclear, change::unclear},
      {few, few, change::unclear, change::unclear},
  };
  for (auto const& row : rows) {
    EXPECT_EQ(compare_times(row.before, true, row.after, true).verdict, row.if_noisy);
    EXPECT_EQ(compare_times(row.before, false, row.after, true).verdict, row.if_noisy);
    EXPECT_EQ(compare_times(row.before, true, row.after, false).verdict, row.if_noisy);
    EXPECT_EQ(compare_times(row.before, false, row.after, false).verdict, row.if_steady);
  }
  interval const range = compare_times(pinned_before, true, pinned_after, true).range;
  EXPECT_DOUBLE_EQ(range.low, pinned_before.median / pinned_after.p95);
  EXPECT_DOUBLE_EQ(range.high, pinned_before.p95 / pinned_after.median);
  EXPECT_DOUBLE_EQ(compare_times(spread, true, spread, true).range.high, 10.01 / 9.99);
}

TEST(Compare, MatchesCasesByNameAndSize) {
  comparison const changes =
      compare_results({example_result("x", 4096, 1e9)}, {example_result("x", 8192, 1e9)});
  EXPECT_TRUE(changes.cases.empty());
  EXPECT_EQ(changes.only_before.at(0), "x at 4 KiB");
  EXPECT_EQ(changes.only_after.at(0), "x at 8 KiB");
}

// Comparing versions of rocbench is intended.
TEST(Compare, WarnsOfDifferentSystemsAndWrongOrder) {
  struct {
    void (*modify)(run_environment&);
    bool same_system;
    char const* warning;
  } const rows[] = {
      {[](run_environment&) {}, true, nullptr},
      {[](run_environment& after) { after.driver_version = 13020; }, false,
       "different driver: 13010 before, 13020 now"},
      {[](run_environment& after) { after.device_name = "Other GPU"; }, false,
       "different device: Example GPU before, Other GPU now"},
      {[](run_environment& after) { after.version = "0.2.0"; }, true,
       "different rocbench: 0.1.0 before, 0.2.0 now"},
      {[](run_environment& after) { after.facts.at(0).value = "Other CPU"; }, true,
       "different CPU: Example CPU before, Other CPU now"},
      {[](run_environment& after) { after.date = "2026-01-02T03:04:04+00:00"; }, true,
       "the first file is the later run: 2026-01-02T03:04:05+00:00, the second is of "
       "2026-01-02T03:04:04+00:00; exchange the files"},
  };
  for (auto const& row : rows) {
    benchmark_run after = example_run();
    row.modify(after.environment);
    benchmark_run const before = example_run();
    comparison const changes = compare(before, after, 0.02);
    EXPECT_EQ(changes.same_system, row.same_system);
    EXPECT_EQ(changes.warnings, row.warning == nullptr ? std::vector<std::string>{}
                                                       : std::vector<std::string>{row.warning});
  }
}

// Comparing each of 60 000 results with all others would take a minute.
TEST(Compare, TakesLessThanSecondsForManyResults) {
  std::vector<case_result> results;
  for (std::size_t bytes = 1; bytes <= 60'000; ++bytes)
    results.push_back(example_result("h2d/pinned", bytes, 50e9));
  auto const begin = std::chrono::steady_clock::now();
  EXPECT_EQ(compare_results(results, results).count(change::same), results.size());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(VerdictLine, StartsWithWorstFinding) {
  struct {
    std::vector<rates> cases;
    char const* expected;
    std::size_t below = 0;
    int driver_after = 13010;
  } const rows[] = {
      {{{"a", 50, 50}, {"b", 50, 50.2}}, "same: nothing is slower or faster"},
      {{{"a", 50, 60}, {"b", 50, 50}}, "faster: 1 of 2 (a)"},
      {{{"a", 50, 60}, {"b", 50, 40}, {"c", 50, 40}}, "slower: 2 of 3 (b, c); faster: 1 of 3 (a)"},
      {{{"a", 50, 40}}, "below 2 thresholds; slower: 1 of 1 (a)", 2},
      {{{"a", 50, 50}}, "below 1 threshold", 1},
      {{{"a", 50, 50}, {"b", 50, 50, 0.1}},
       "same: nothing is slower or faster; 1 of 2 too noisy or too close to 2 % for a verdict"},
      {{{"a", 50, 40}, {"b", 50, 50, 0.1}},
       "slower: 1 of 2 (a); 1 of 2 too noisy or too close to 2 % for a verdict"},
      {{{"b", 50, 50, 0.1}}, "unclear: 1 of 1 too noisy or too close to 2 % for a verdict"},
      {{{"a", 50, 40}}, "slower, on a different device, driver or runtime: 1 of 1 (a)", 0, 13020},
      {{{"a", 50, 50}}, "same: nothing is slower or faster", 0, 13020},
  };
  for (auto const& row : rows) {
    EXPECT_EQ(verdict_line(compare_rates(row.cases, row.driver_after), 0.02, row.below),
              row.expected);
  }
}

TEST(VerdictLine, CountsWrongDataAndUnmeasuredCases) {
  benchmark_run both = example_run();  // one is right, one has wrong data, two were not measured
  EXPECT_EQ(verdict_line(compare(both, both, 0.02), 0.02),
            "wrong data: 1 of 4 (d2d/copy at 1 MiB); 2 of 4 not measured");
  both.results.erase(both.results.begin(), both.results.begin() + 2);
  EXPECT_EQ(verdict_line(compare(both, both, 0.02), 0.02), "unclear: 2 of 2 not measured");
}

// The example's h2d/pinned reaches 32 GB/s: 50 % of its limit, and 100 % of before.
threshold_results check(char const* text) {
  static benchmark_run const run = example_run();
  return check_thresholds(parse_thresholds(text, "t"), compare(run, run, 0.02));
}

TEST(CheckThresholds, ComparesInEachUnit) {
  for (char const* line :
       {"h2d/pinned 31.9 GB/s", "h2d/* 49 % of limit", "h2d/p* 99 % of before"}) {
    EXPECT_TRUE(check(line).below.empty()) << line;
    EXPECT_TRUE(check(line).unchecked.empty()) << line;
  }
  for (char const* line : {"h2d/pinned 33 GB/s", "h2d/* 51 % of limit", "h2d/p* 101 % of before"}) {
    EXPECT_EQ(check(line).below.size(), 1u) << line;
  }
  EXPECT_EQ(check("h2d/pinned 33 GB/s").below[0],
            "h2d/pinned at 1 MiB reaches only 32 GB/s; the threshold is: h2d/pinned 33 GB/s");
}

TEST(CheckThresholds, ListsThresholdsWithoutMeasuredValue) {
  EXPECT_EQ(check("nonsense 1 GB/s").unchecked.size(), 1u);
  EXPECT_EQ(check("d2d/copy 50 % of limit").unchecked.size(), 1u);  // unknown limit
  EXPECT_EQ(check("d2h/pinned 1 GB/s").unchecked.size(), 1u);       // failed case
}

TEST(ParseThresholds, IgnoresCommentsAndEmptyLines) {
  EXPECT_EQ(parse_thresholds("# a comment\n\n  \n h2d/* 1 GB/s \r\nraw/* 2 % of limit", "t").size(),
            2u);
}

TEST(ParseThresholds, RefusesOtherLinesWithLocation) {
  for (char const* line : {"h2d", "h2d 5", "h2d five GB/s", "h2d 5 MB/s", "h2d -5 GB/s",
                           "h2d nan GB/s", "h2d 1e999 GB/s", "h2d 1.2.3 GB/s", "h2d 5 GB/s more"}) {
    try {
      parse_thresholds(std::string("# x\n") + line, "file");
      ADD_FAILURE() << line;
    } catch (file_error const& e) {
      EXPECT_TRUE(std::string_view(e.what()).starts_with("file:2: '")) << e.what();
    }
  }
}

}  // namespace
}  // namespace rocbench
