// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include "format.hpp"
#include "result_file.hpp"
#include "result_table.hpp"

namespace rocbench {
namespace {

change classify(interval const& range, double tolerance) {
  if (range.low > 1 + tolerance) return change::faster;
  if (range.high < 1 - tolerance) return change::slower;
  if (range.low >= 1 - tolerance && range.high <= 1 + tolerance) return change::same;
  return change::unclear;
}

// Extends the range so that each run's median may be anywhere within the other run's spread.
interval with_spread(interval const& range, summary const& before, summary const& after) {
  return {std::min({range.low, before.p5 / after.median, before.median / after.p95}),
          std::max({range.high, before.p95 / after.median, before.median / after.p5})};
}

compared_case compare_case(case_result const& before_result, case_result const& after_result,
                           double tolerance) {
  compared_case result{&before_result, &after_result};
  if (before_result.status != outcome::measured || after_result.status != outcome::measured) {
    result.verdict = change::not_measured;
    return result;
  }
  summary const& before = before_result.measured.seconds;
  summary const& after = after_result.measured.seconds;
  result.speed = before.median / after.median;
  // With too few samples the interval is infinite on both sides; a time is not negative.
  result.range = {std::max(before.median_interval.low, 0.0) / after.median_interval.high,
                  before.median_interval.high / std::max(after.median_interval.low, 0.0)};
  if (before_result.measured.mismatch || after_result.measured.mismatch) {
    result.verdict = change::wrong_data;
    return result;
  }
  result.verdict = classify(result.range, tolerance);
  // The confidence intervals assume independent samples. Samples of a drifting machine are not, and
  // the two medians may differ although nothing changed; the spreads show how far the drift goes.
  bool const is_noisy = before_result.measured.noisy || after_result.measured.noisy;
  if (is_noisy && result.verdict != change::same) {
    result.range = with_spread(result.range, before, after);
    result.verdict = classify(result.range, tolerance);
  }
  return result;
}

// Compares a property of the environments. If it differs, adds a warning and returns true.
template <class T>
bool differ(comparison& result, char const* name, T const& before, T const& after) {
  if (before == after) return false;
  result.warnings.push_back(fmt::format("different {}: {} before, {} now", name, before, after));
  return true;
}

// The results of a run by case and size.
using result_index = std::map<std::pair<std::string_view, std::size_t>, case_result const*>;

result_index index_of(benchmark_run const& run) {
  result_index index;
  for (case_result const& result : run.results)
    index.try_emplace({result.name, result.bytes}, &result);
  return index;
}

// Returns the value that the threshold applies to, in its unit; empty if it is unknown.
std::optional<double> value_of(compared_case const& compared, threshold const& entry) {
  if (compared.verdict == change::not_measured) return std::nullopt;
  if (entry.unit == "GB/s") return compared.after->measured.reported_rate() * 1e-9;
  if (entry.unit == "% of before") return 100 * compared.speed;
  auto const efficiency = compared.after->efficiency();
  return efficiency ? std::optional(100 * *efficiency) : std::nullopt;
}

constexpr std::size_t columns_for_range = 100;
constexpr char const* row_format = "{:<27} {:>8} {:>8} {:>8} {:>9}  {}\n";

std::string percent(double speed) {
  return std::isfinite(speed) ? fmt::format("{:+.1f} %", 100 * (speed - 1)) : "any";
}

void print_row(compared_case const& compared, bool with_range) {
  case_result const& before = *compared.before;
  case_result const& after = *compared.after;
  std::string const size = format_size(after.bytes);
  if (compared.verdict == change::not_measured) {
    std::string const& reason = after.reason.empty() ? before.reason : after.reason;
    fmt::print("{:<27} {:>8} not measured: {}\n", after.name, size, reason);
    return;
  }
  bool const is_time = after.counted == accounting::time;
  auto const value = [&](measurement const& measured) {
    return is_time ? format_time(measured.seconds.median) : format_rate(measured.rate.median);
  };
  fmt::print(row_format, after.name, size, value(before.measured), value(after.measured),
             percent(compared.speed),
             with_range ? fmt::format("{:<12} {} to {}", to_string(compared.verdict),
                                      percent(compared.range.low), percent(compared.range.high))
                        : to_string(compared.verdict));
}

void print_table(comparison const& changes, double tolerance) {
  for (std::string const& text : changes.warnings)
    fmt::print(stderr, "rocbench: warning: {}\n", text);
  fmt::print(
      "Medians in GB/s (1e9 bytes) or times; a change above zero is faster. A verdict\n"
      "follows from the range of the change: the 95 % confidence intervals of both\n"
      "medians and, for noisy cases, the spread of the samples. Changes up to {:g} %\n"
      "count as the same.\n\n",
      tolerance);
  bool const with_range = terminal::of(stdout).columns >= columns_for_range;
  fmt::print(row_format, "case", "size", "before", "after", "change",
             with_range ? "verdict      range" : "verdict");
  for (compared_case const& compared : changes.cases) print_row(compared, with_range);
  for (std::string const& text : changes.only_before) fmt::print("only before: {}\n", text);
  for (std::string const& text : changes.only_after) fmt::print("only after: {}\n", text);
  fmt::print("\n");
  for (std::size_t i = 0; i < std::size(change_names); ++i) {
    if (auto const count = changes.count(static_cast<change>(i)); count != 0)
      fmt::print("{} {}\n", count, change_names[i]);
  }
}

}  // namespace

std::size_t comparison::count(change verdict) const {
  return static_cast<std::size_t>(std::ranges::count(cases, verdict, &compared_case::verdict));
}

comparison compare(benchmark_run const& before, benchmark_run const& after, double tolerance) {
  comparison result;
  run_environment const& old_system = before.environment;
  run_environment const& new_system = after.environment;
  // Every difference is a warning, so `|=` must not skip a call.
  bool different = differ(result, "platform", old_system.platform, new_system.platform);
  different |= differ(result, "device", old_system.device_name, new_system.device_name);
  different |= differ(result, "driver", old_system.driver_version, new_system.driver_version);
  different |= differ(result, "runtime", old_system.runtime_version, new_system.runtime_version);
  result.same_system = !different;
  differ(result, "rocbench", old_system.version, new_system.version);
  differ(result, "host", old_system.host_name, new_system.host_name);
  for (fact const& current : new_system.facts) {
    auto const earlier = std::ranges::find(old_system.facts, current.name, &fact::name);
    if (earlier != old_system.facts.end())
      differ(result, current.name.c_str(), earlier->value, current.value);
  }
  if (old_system.date > new_system.date) {
    result.warnings.push_back(
        fmt::format("the first file is the later run: {}, the second is of {}; exchange the files",
                    old_system.date, new_system.date));
  }
  result_index const old_results = index_of(before);
  result_index const new_results = index_of(after);
  for (case_result const& current : after.results) {
    auto const earlier = old_results.find({current.name, current.bytes});
    if (earlier != old_results.end())
      result.cases.push_back(compare_case(*earlier->second, current, tolerance));
    else
      result.only_after.push_back(describe(current));
  }
  for (case_result const& earlier : before.results) {
    if (!new_results.contains({earlier.name, earlier.bytes}))
      result.only_before.push_back(describe(earlier));
  }
  return result;
}

std::string verdict_line(comparison const& runs, double tolerance, std::size_t below) {
  bool const has_one_size = std::ranges::all_of(runs.cases, [&](compared_case const& compared) {
    return compared.after->bytes == runs.cases.front().after->bytes;
  });
  std::size_t const total = runs.cases.size();
  std::vector<std::string> parts;
  // Adds for example "slower: 2 of 27 (h2d/pinned, d2d/copy)" if any case has this verdict.
  auto const add = [&](change verdict, char const* qualifier) {
    std::vector<std::string> names;
    for (compared_case const& compared : runs.cases) {
      if (compared.verdict != verdict) continue;
      names.push_back(has_one_size ? compared.after->name : describe(*compared.after));
    }
    if (names.empty()) return;
    parts.push_back(fmt::format("{}{}: {} of {} ({})", to_string(verdict), qualifier, names.size(),
                                total, join_names(names)));
  };
  add(change::wrong_data, "");
  if (below != 0)
    parts.push_back(fmt::format("below {} threshold{}", below, below == 1 ? "" : "s"));
  char const* const qualifier =
      runs.same_system ? "" : ", on a different device, driver or runtime";
  add(change::slower, qualifier);
  add(change::faster, qualifier);
  if (parts.empty() && runs.count(change::same) != 0)
    parts.emplace_back("same: nothing is slower or faster");
  if (std::size_t const unclear = runs.count(change::unclear); unclear != 0) {
    parts.push_back(fmt::format("{}{} of {} too noisy or too close to {:g} % for a verdict",
                                parts.empty() ? "unclear: " : "", unclear, total, 100 * tolerance));
  }
  if (std::size_t const unmeasured = runs.count(change::not_measured); unmeasured != 0) {
    parts.push_back(fmt::format("{}{} of {} not measured", parts.empty() ? "unclear: " : "",
                                unmeasured, total));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<threshold> parse_thresholds(std::string_view text, std::string const& name) {
  static std::regex const form(R"(\s*(\S+)\s+([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s+)"
                               "(GB/s|% of limit|% of before)\\s*");
  constexpr std::size_t max_line = 1000;  // std::regex recurses for each character
  constexpr std::size_t max_shown = 80;
  std::vector<threshold> result;
  std::istringstream lines{std::string(text)};
  std::size_t line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    std::size_t const begin = line.find_first_not_of(" \t\r\v\f");
    if (begin == std::string::npos || line[begin] == '#') continue;
    std::smatch fields;
    bool const has_form = line.size() <= max_line && std::regex_match(line, fields, form);
    double const minimum = has_form ? std::strtod(fields.str(2).c_str(), nullptr) : 0;
    if (!(minimum > 0 && std::isfinite(minimum))) {
      throw file_error(fmt::format(
          "{}:{}: '{}' is not a threshold; write a case, a number above "
          "zero, and GB/s, % of limit or % of before",
          name, line_number, line.size() > max_shown ? line.substr(0, max_shown) + "..." : line));
    }
    result.push_back({fields.str(1), minimum, fields.str(3), line});
  }
  return result;
}

threshold_results check_thresholds(std::vector<threshold> const& thresholds,
                                   comparison const& runs) {
  threshold_results result;
  for (threshold const& entry : thresholds) {
    bool applies = false;
    for (compared_case const& compared : runs.cases) {
      if (fnmatch(entry.cases.c_str(), compared.after->name.c_str(), 0) != 0) continue;
      if (compared.after->status == outcome::failed) {
        result.unchecked.push_back(
            fmt::format("{}: {} failed", entry.line, describe(*compared.after)));
        applies = true;
      }
      auto const value = value_of(compared, entry);
      if (!value) continue;
      applies = true;
      if (*value >= entry.minimum) continue;
      result.below.push_back(fmt::format("{} reaches only {:.4g} {}; the threshold is: {}",
                                         describe(*compared.after), *value, entry.unit,
                                         entry.line));
    }
    if (!applies)
      result.unchecked.push_back(entry.line + ": no case matches, or its value is unknown");
  }
  return result;
}

exit_code compare(compare_options const& options) {
  benchmark_run const before = read_run(options.before);
  benchmark_run const after = read_run(options.after);
  std::vector<threshold> thresholds;
  if (!options.thresholds.empty())
    thresholds = parse_thresholds(read_file(options.thresholds), options.thresholds);
  double const tolerance = options.tolerance / 100;
  comparison const changes = compare(before, after, tolerance);
  print_table(changes, options.tolerance);
  if (changes.cases.empty()) {
    std::fflush(stdout);
    return fail(exit_code::nothing_to_run,
                "the files have no case in common at the same size; compare runs of the same cases "
                "and sizes");
  }
  threshold_results const checked = check_thresholds(thresholds, changes);
  fmt::print("\n{}\n", verdict_line(changes, tolerance, checked.below.size()));
  std::fflush(stdout);
  for (std::string const& text : checked.below) fail(exit_code::regression, text);
  for (std::string const& text : checked.unchecked)
    fail(exit_code::usage, "threshold not checked: " + text);
  if (changes.count(change::wrong_data) != 0) return exit_code::mismatch;
  if (!checked.below.empty()) return exit_code::regression;
  if (changes.count(change::slower) != 0) {
    if (changes.same_system) return exit_code::regression;
    fmt::print(stderr, "rocbench: warning: slower, but on a different device, driver or runtime\n");
  }
  return checked.unchecked.empty() ? exit_code::ok : exit_code::usage;
}

}  // namespace rocbench
