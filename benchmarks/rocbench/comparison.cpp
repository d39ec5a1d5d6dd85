// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

change verdict(interval const& range, double tolerance) {
  if (range.low > 1 + tolerance) return change::faster;
  if (range.high < 1 - tolerance) return change::slower;
  if (range.low >= 1 - tolerance && range.high <= 1 + tolerance) return change::same;
  return change::unclear;
}

// The speed where one run's median lies anywhere within the other's spread, and within `range`.
interval with_spread(interval const& range, summary const& was, summary const& is) {
  return {std::min({range.low, was.p5 / is.median, was.median / is.p95}),
          std::max({range.high, was.p95 / is.median, was.median / is.p5})};
}

compared_case compare_case(case_result const& before, case_result const& after, double tolerance) {
  compared_case result{&before, &after};
  if (before.ended != outcome::measured || after.ended != outcome::measured) {
    result.what = change::not_measured;
    return result;
  }
  summary const& was = before.measured.seconds;
  summary const& is = after.measured.seconds;
  result.speed = was.median / is.median;
  // Ends that too few samples leave open are infinite, or minus infinity: a time is not below zero.
  result.range = {std::max(was.median_interval.low, 0.0) / is.median_interval.high,
                  was.median_interval.high / std::max(is.median_interval.low, 0.0)};
  if (before.measured.mismatch || after.measured.mismatch) {
    result.what = change::wrong_data;
    return result;
  }
  result.what = verdict(result.range, tolerance);
  // The medians' intervals suppose samples that know nothing of each other. Those of a machine that
  // drifts do, and each run then has a median of its own: the spreads tell how far that goes.
  bool const noisy = before.measured.noisy || after.measured.noisy;
  if (noisy && result.what != change::same) {
    result.range = with_spread(result.range, was, is);
    result.what = verdict(result.range, tolerance);
  }
  return result;
}

case_result const* find(document const& in, case_result const& like) {
  auto const found = std::ranges::find_if(in.results, [&](case_result const& each) {
    return each.name == like.name && each.bytes == like.bytes;
  });
  return found == in.results.end() ? nullptr : &*found;
}

std::string title(case_result const& of) {
  return of.name + " at " + format_size(static_cast<double>(of.bytes));
}

template <class T>
bool differ(comparison& result, char const* what, T const& before, T const& after) {
  if (before == after) return false;
  result.differences.push_back(fmt::format("{}: {} before, {} now", what, before, after));
  return true;
}

}  // namespace

char const* to_string(change what) noexcept {
  switch (what) {
    case change::same: return "same";
    case change::faster: return "faster";
    case change::slower: return "slower";
    case change::unclear: return "unclear";
    case change::not_measured: return "not measured";
    case change::wrong_data: return "wrong data";
  }
  return "";
}

comparison compare(document const& before, document const& after, double tolerance) {
  comparison result;
  environment const& was = before.where;
  environment const& is = after.where;
  // Each is told, so none may keep the next from being looked at.
  bool foreign = differ(result, "platform", was.platform, is.platform);
  foreign |= differ(result, "device", was.device_name, is.device_name);
  foreign |= differ(result, "driver", was.driver_version, is.driver_version);
  foreign |= differ(result, "runtime", was.runtime_version, is.runtime_version);
  result.comparable = !foreign;
  differ(result, "rocbench", was.version, is.version);
  differ(result, "host", was.host_name, is.host_name);
  for (case_result const& each : after.results) {
    if (auto const* const old = find(before, each)) {
      result.cases.push_back(compare_case(*old, each, tolerance));
    } else {
      result.only_after.push_back(title(each));
    }
  }
  for (case_result const& each : before.results) {
    if (find(after, each) == nullptr) result.only_before.push_back(title(each));
  }
  return result;
}

}  // namespace rocbench
