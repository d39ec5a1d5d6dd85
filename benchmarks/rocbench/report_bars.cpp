// SPDX-License-Identifier: MIT
#include "report_bars.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr char const* legend =
    "<span class=\"key library\"></span> the library; the line is the 5th to 95th percentile; "
    "<span class=\"key raw\"></span> HIP's own call, or the same kernel with plain pointers. ";

std::string size_of(case_result const& result) {
  return format_size(static_cast<double>(result.bytes));
}

// Returns the result of the same size; null if there is none.
case_result const* raw_counterpart(std::vector<case_result const*> const& raw,
                                   case_result const& shown) {
  auto const match = std::ranges::find(raw, shown.bytes, &case_result::bytes);
  return match == raw.end() ? nullptr : *match;
}

// Returns true if the raw counterpart is a kernel with pointers, not a call of HIP.
bool is_kernel(case_result const& raw) { return raw.path.starts_with("kernel"); }

bar_row efficiency_row(case_pair const& pair) {
  bool const only_raw = pair.library.empty();  // the library's case was not measured
  case_result const& shown = only_raw ? *pair.raw.back() : *pair.library.back();
  case_result const* const raw = only_raw ? nullptr : raw_counterpart(pair.raw, shown);
  summary const& rate = shown.measured.rate;
  bar_row row;
  row.name = shown.name;
  row.note = size_of(shown) + ", " + shown.path + (shown.measured.noisy ? ", noisy" : "") +
             (shown.measured.loop ? ", shortest time" : "");
  row.value = format_rate(shown.measured.reported_rate()) + " GB/s";
  if (auto const efficiency = shown.efficiency()) {
    double const limit_rate = *shown.physical_limit.rate;
    row.value += ", " + format_fraction(*efficiency);
    row.detail = "of " + format_rate(limit_rate) + " (" + shown.physical_limit.origin + ")";
    row.library = efficiency;
    row.low = rate.p5 / limit_rate;
    row.high = rate.p95 / limit_rate;
    if (raw != nullptr) row.raw = raw->efficiency();
  } else {
    row.detail = "limit unknown";
  }
  if (shown.counted == accounting::traffic) row.detail += ", traffic";
  if (raw != nullptr) {
    row.detail += (is_kernel(*raw) ? "; pointers " : "; HIP ");
    row.detail += format_rate(raw->measured.reported_rate());
  }
  return row;
}

bool counts_time(case_pair const& pair) {
  return (pair.library.empty() ? pair.raw : pair.library).front()->counted == accounting::time;
}

// Times differ by orders of magnitude, so the axis is logarithmic over whole decades.
struct logarithmic_axis {
  double first = 1e9;
  double last = -1e9;

  void include(double seconds) {
    first = std::min(first, std::floor(std::log10(seconds)));
    last = std::max(last, std::ceil(std::log10(seconds)));
  }
  double operator()(double seconds) const {
    return (std::log10(seconds) - first) / std::max(last - first, 1.0);
  }
};

std::string time_row(case_result const& shown, case_result const* raw,
                     logarithmic_axis const& axis) {
  summary const& seconds = shown.measured.seconds;
  bar_row row;
  row.name = shown.name;
  row.note = size_of(shown) + ", " + shown.path;
  row.value = format_time(seconds.median);
  row.detail = format_time(seconds.p5) + " to " + format_time(seconds.p95);
  row.library = axis(seconds.median);
  row.low = axis(seconds.p5);
  row.high = axis(seconds.p95);
  if (raw != nullptr) {
    row.detail += "; HIP " + format_time(raw->measured.seconds.median);
    row.raw = axis(raw->measured.seconds.median);
  }
  return html_bar_row(row);
}

}  // namespace

std::vector<bar_row> efficiency_rows(std::vector<case_pair> const& pairs) {
  std::vector<bar_row> rows;
  for (case_pair const& pair : pairs) {
    if (!counts_time(pair)) rows.push_back(efficiency_row(pair));
  }
  return rows;
}

std::string efficiency_bars(std::vector<case_pair> const& pairs) {
  std::string rows;
  for (bar_row const& row : efficiency_rows(pairs)) rows += html_bar_row(row);
  if (rows.empty()) return "";
  return fmt::format(
      "<p>{}The full width is the physical limit; ! marks rates above it. GB = 1e9 bytes. "
      "Each case is shown at its largest size.</p>\n{}",
      legend, rows);
}

std::string time_bars(std::vector<case_pair> const& pairs) {
  logarithmic_axis axis;
  for (case_pair const& pair : pairs) {
    if (!counts_time(pair)) continue;
    for (auto const* results : {&pair.library, &pair.raw}) {
      for (case_result const* result : *results) axis.include(result->measured.seconds.median);
    }
  }
  std::string rows;
  for (case_pair const& pair : pairs) {
    if (!counts_time(pair)) continue;
    auto const& shown = pair.library.empty() ? pair.raw : pair.library;
    for (case_result const* result : shown) {
      rows += time_row(*result, pair.library.empty() ? nullptr : raw_counterpart(pair.raw, *result),
                       axis);
    }
  }
  if (rows.empty()) return "";
  return fmt::format("<p>{}Shorter is better. The axis is logarithmic, from {} to {}.</p>\n{}",
                     legend, format_time(std::pow(10, axis.first)),
                     format_time(std::pow(10, std::max(axis.last, axis.first + 1))), rows);
}

std::string change_bars(comparison const& changes) {
  double axis_end = 0.05;
  for (compared_case const& compared : changes.cases) {
    if (compared.verdict == change::not_measured) continue;
    axis_end = std::max(axis_end, std::min(1.2 * std::abs(compared.speed - 1), 1.0));
  }
  std::string counts;
  for (change const verdict : {change::slower, change::faster, change::same, change::unclear,
                               change::wrong_data, change::not_measured}) {
    auto const count = std::ranges::count(changes.cases, verdict, &compared_case::verdict);
    if (count == 0) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, to_string(verdict));
  }
  std::string rows;
  for (compared_case const& compared : changes.cases) {
    if (compared.verdict == change::not_measured) continue;
    std::string const verdict_name = to_string(compared.verdict);
    std::string const range =
        std::isfinite(compared.range.high)
            ? fmt::format("{:+.1f} % to {:+.1f} %", 100 * (compared.range.low - 1),
                          100 * (compared.range.high - 1))
            : "too few samples";
    bool const is_noisy = compared.before->measured.noisy || compared.after->measured.noisy;
    rows += html_change_row(compared.after->name,
                            size_of(*compared.after) + (is_noisy ? ", noisy" : ""),
                            fmt::format("{:+.1f} %, {}", 100 * (compared.speed - 1), verdict_name),
                            range, compared.range.low - 1, compared.range.high - 1, axis_end,
                            verdict_name.substr(0, verdict_name.find(' ')));
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<p><b>{}.</b> The axis extends from {:+.0f} % to {:+.0f} %, with no change in the middle; "
      "right is faster. A bar is the range of the change, which covers the spread of the samples "
      "if a run was noisy. A pale bar is unclear.</p>\n{}",
      counts, -100 * axis_end, 100 * axis_end, rows);
}

}  // namespace rocbench
