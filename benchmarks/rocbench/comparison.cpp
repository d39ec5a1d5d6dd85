// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "format.hpp"

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

// Returns the result of the same case and size; null if there is none.
case_result const* find(benchmark_run const& run, case_result const& target) {
  auto const match = std::ranges::find_if(run.results, [&](case_result const& result) {
    return result.name == target.name && result.bytes == target.bytes;
  });
  return match == run.results.end() ? nullptr : &*match;
}

std::string describe(case_result const& result) {
  return result.name + " at " + format_size(static_cast<double>(result.bytes));
}

// Compares a property of the environments. If it differs, adds it to the differences and returns
// true.
template <class T>
bool differ(comparison& result, char const* name, T const& before, T const& after) {
  if (before == after) return false;
  result.differences.push_back(fmt::format("{}: {} before, {} now", name, before, after));
  return true;
}

}  // namespace

char const* to_string(change verdict) noexcept {
  switch (verdict) {
    case change::same: return "same";
    case change::faster: return "faster";
    case change::slower: return "slower";
    case change::unclear: return "unclear";
    case change::not_measured: return "not measured";
    case change::wrong_data: return "wrong data";
  }
  return "";
}

comparison compare(benchmark_run const& before, benchmark_run const& after, double tolerance) {
  comparison result;
  run_environment const& old_system = before.environment;
  run_environment const& new_system = after.environment;
  // Every difference is listed, so `|=` must not skip a call.
  bool different = differ(result, "platform", old_system.platform, new_system.platform);
  different |= differ(result, "device", old_system.device_name, new_system.device_name);
  different |= differ(result, "driver", old_system.driver_version, new_system.driver_version);
  different |= differ(result, "runtime", old_system.runtime_version, new_system.runtime_version);
  result.same_system = !different;
  differ(result, "rocbench", old_system.version, new_system.version);
  differ(result, "host", old_system.host_name, new_system.host_name);
  for (case_result const& current : after.results) {
    if (auto const* const earlier = find(before, current)) {
      result.cases.push_back(compare_case(*earlier, current, tolerance));
    } else {
      result.only_after.push_back(describe(current));
    }
  }
  for (case_result const& earlier : before.results) {
    if (find(after, earlier) == nullptr) result.only_before.push_back(describe(earlier));
  }
  return result;
}

}  // namespace rocbench
