// SPDX-License-Identifier: MIT
#include "compare_command.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "compare_verdict.hpp"
#include "comparison.hpp"
#include "format.hpp"
#include "json_reader.hpp"
#include "thresholds.hpp"

namespace rocbench {
namespace {

constexpr char const* row_format = "{:<24} {:>9} {:>10} {:>10} {:>9}  {:<20} {}\n";

std::string percent(double speed) {
  return std::isfinite(speed) ? fmt::format("{:+.1f} %", 100 * (speed - 1)) : "any";
}

void print_row(compared_case const& compared) {
  case_result const& before = *compared.before;
  case_result const& after = *compared.after;
  std::string const size = format_size(static_cast<double>(after.bytes));
  if (compared.verdict == change::not_measured) {
    std::string const& reason = after.reason.empty() ? before.reason : after.reason;
    fmt::print("{:<24} {:>9} not measured: {}\n", after.name, size, reason);
    return;
  }
  fmt::print(row_format, after.name, size, format_rate(before.measured.rate.median),
             format_rate(after.measured.rate.median), percent(compared.speed),
             percent(compared.range.low) + " to " + percent(compared.range.high),
             to_string(compared.verdict));
}

void print_table(comparison const& changes, double tolerance) {
  for (std::string const& text : changes.differences) {
    fmt::print(stderr, "rocbench: warning: different {}\n", text);
  }
  fmt::print(
      "Medians in GB/s (1e9 bytes). The change is within the range with 95 % confidence for each "
      "run; for noisy cases the range covers the spread of the samples. Changes up to {:g} % count "
      "as the same.\n\n",
      tolerance);
  fmt::print(row_format, "case", "size", "before", "after", "change", "range", "verdict");
  for (compared_case const& compared : changes.cases) print_row(compared);
  for (std::string const& text : changes.only_before) fmt::print("only before: {}\n", text);
  for (std::string const& text : changes.only_after) fmt::print("only after: {}\n", text);
  fmt::print("\n");
  for (change const verdict : {change::same, change::faster, change::slower, change::unclear,
                               change::not_measured, change::wrong_data}) {
    auto const count = std::ranges::count(changes.cases, verdict, &compared_case::verdict);
    if (count != 0) fmt::print("{} {}\n", count, to_string(verdict));
  }
}

void print_verdict(std::string const& verdict_line) {
  fmt::print("\n{}\n", verdict_line);
  std::fflush(stdout);
}

}  // namespace

exit_code compare(compare_options const& options) {
  benchmark_run const before = read_run(options.before);
  benchmark_run const after = read_run(options.after);
  auto const thresholds =
      options.thresholds.empty() ? std::vector<threshold>{} : read_thresholds(options.thresholds);
  comparison const changes = compare(before, after, options.tolerance / 100);
  print_table(changes, options.tolerance);
  if (changes.cases.empty()) {
    std::fflush(stdout);
    return fail(exit_code::nothing_to_run,
                "the files have no case in common at the same size; compare runs of the same cases "
                "and sizes");
  }
  auto const has_verdict = [&](change verdict) {
    return std::ranges::find(changes.cases, verdict, &compared_case::verdict) !=
           changes.cases.end();
  };
  threshold_results const threshold_check = check_thresholds(thresholds, changes);
  print_verdict(compare_verdict(changes, options.tolerance / 100, threshold_check.below.size()));
  for (std::string const& text : threshold_check.below) fail(exit_code::regression, text);
  for (std::string const& text : threshold_check.unchecked)
    fail(exit_code::usage, "threshold not checked: " + text);
  if (has_verdict(change::wrong_data)) return exit_code::mismatch;
  if (!threshold_check.below.empty()) return exit_code::regression;
  if (has_verdict(change::slower)) {
    if (changes.same_system) return exit_code::regression;
    fmt::print(stderr, "rocbench: warning: slower, but on a different device, driver or runtime\n");
  }
  return threshold_check.unchecked.empty() ? exit_code::ok : exit_code::usage;
}

}  // namespace rocbench
