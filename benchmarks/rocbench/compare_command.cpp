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

void print(compared_case const& of) {
  case_result const& was = *of.before;
  case_result const& is = *of.after;
  std::string const size = format_size(static_cast<double>(is.bytes));
  if (of.what == change::not_measured) {
    std::string const& why = is.problem.empty() ? was.problem : is.problem;
    fmt::print("{:<24} {:>9} not measured: {}\n", is.name, size, why);
    return;
  }
  fmt::print(row_format, is.name, size, format_rate(was.measured.rate.median),
             format_rate(is.measured.rate.median), percent(of.speed),
             percent(of.range.low) + " to " + percent(of.range.high), to_string(of.what));
}

void print(comparison const& of, double tolerance) {
  for (std::string const& each : of.differences) {
    fmt::print(stderr, "rocbench: warning: another {}\n", each);
  }
  fmt::print(
      "Medians in GB/s (1e9 bytes). The change lies in the range with 95 % confidence for either "
      "run, that of noisy cases goes by the spread of their samples; up to {:g} % is the same.\n\n",
      tolerance);
  fmt::print(row_format, "case", "size", "before", "after", "change", "range", "verdict");
  for (compared_case const& each : of.cases) print(each);
  for (std::string const& each : of.only_before) fmt::print("only before: {}\n", each);
  for (std::string const& each : of.only_after) fmt::print("only after: {}\n", each);
  fmt::print("\n");
  for (change const what : {change::same, change::faster, change::slower, change::unclear,
                            change::not_measured, change::wrong_data}) {
    auto const count = std::ranges::count(of.cases, what, &compared_case::what);
    if (count != 0) fmt::print("{} {}\n", count, to_string(what));
  }
}

void print_verdict(std::string const& words) {
  fmt::print("\n{}\n", words);
  std::fflush(stdout);
}

}  // namespace

exit_code compare(compare_options const& chosen) {
  document const before = read_document(chosen.before);
  document const after = read_document(chosen.after);
  auto const thresholds =
      chosen.thresholds.empty() ? std::vector<threshold>{} : read_thresholds(chosen.thresholds);
  comparison const runs = compare(before, after, chosen.tolerance / 100);
  print(runs, chosen.tolerance);
  if (runs.cases.empty()) {
    std::fflush(stdout);
    return fail(exit_code::nothing_to_run, "the files have no case of the same size in common");
  }
  auto const any = [&](change what) {
    return std::ranges::find(runs.cases, what, &compared_case::what) != runs.cases.end();
  };
  threshold_verdict const held = check_thresholds(thresholds, runs);
  print_verdict(compare_verdict(runs, chosen.tolerance / 100, held.below.size()));
  for (std::string const& each : held.below) fail(exit_code::regression, each);
  for (std::string const& each : held.unchecked) fail(exit_code::usage, "not checked: " + each);
  if (any(change::wrong_data)) return exit_code::mismatch;
  if (!held.below.empty()) return exit_code::regression;
  if (any(change::slower)) {
    if (runs.comparable) return exit_code::regression;
    fmt::print(stderr, "rocbench: warning: slower, but not on the same device and driver\n");
  }
  return held.unchecked.empty() ? exit_code::ok : exit_code::usage;
}

}  // namespace rocbench
