// SPDX-License-Identifier: MIT
// The parts of bars: efficiency, times, changes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bar_rows.hpp"
#include "format.hpp"
#include "report_parts.hpp"

namespace rocbench {
namespace {

constexpr char const* library_and_raw =
    "<span class=\"key library\"></span> the library, with the 5th to 95th percentile as a line; "
    "<span class=\"key raw\"></span> HIP's own call, or the same kernel with plain pointers. ";

std::string size_of(case_result const& of) { return format_size(static_cast<double>(of.bytes)); }

// The result of `raw` at the same size.
case_result const* beside(std::vector<case_result const*> const& raw, case_result const& of) {
  auto const found = std::ranges::find(raw, of.bytes, &case_result::bytes);
  return found == raw.end() ? nullptr : *found;
}

// Whether beside the library's there is no call of HIP, but a kernel too.
bool is_kernel(case_result const& raw) { return raw.path.starts_with("kernel"); }

bar_row efficiency_row(case_pair const& of) {
  bool const alone = of.library.empty();  // only HIP's call was measured
  case_result const& shown = alone ? *of.raw.back() : *of.library.back();
  case_result const* const raw = alone ? nullptr : beside(of.raw, shown);
  summary const& rate = shown.measured.rate;
  bar_row row;
  row.name = shown.name;
  row.note = size_of(shown) + ", " + shown.path + (shown.measured.noisy ? ", noisy" : "") +
             (shown.measured.loop ? ", least time" : "");
  row.value = format_rate(shown.measured.shown_rate()) + " GB/s";
  if (auto const share = shown.efficiency()) {
    double const whole = *shown.physical.rate;
    row.value += ", " + format_share(*share);
    row.more = "of " + format_rate(whole) + " (" + shown.physical.origin + ")";
    row.library = share;
    row.low = rate.p5 / whole;
    row.high = rate.p95 / whole;
    if (raw != nullptr) row.raw = raw->efficiency();
  } else {
    row.more = "limit unknown";
  }
  if (shown.counted == accounting::traffic) row.more += ", traffic";
  if (raw != nullptr) {
    row.more += (is_kernel(*raw) ? "; pointers " : "; HIP ");
    row.more += format_rate(raw->measured.shown_rate());
  }
  return row;
}

bool is_time(case_pair const& of) {
  return (of.library.empty() ? of.raw : of.library).front()->counted == accounting::time;
}

// Times lie too far apart for one scale from zero: a decade is always as wide.
struct decades {
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

std::string time_row(case_result const& shown, case_result const* raw, decades const& scale) {
  summary const& seconds = shown.measured.seconds;
  bar_row row;
  row.name = shown.name;
  row.note = size_of(shown) + ", " + shown.path;
  row.value = format_time(seconds.median);
  row.more = format_time(seconds.p5) + " to " + format_time(seconds.p95);
  row.library = scale(seconds.median);
  row.low = scale(seconds.p5);
  row.high = scale(seconds.p95);
  if (raw != nullptr) {
    row.more += "; HIP " + format_time(raw->measured.seconds.median);
    row.raw = scale(raw->measured.seconds.median);
  }
  return html_bar_row(row);
}

}  // namespace

std::vector<bar_row> efficiency_rows(std::vector<case_pair> const& pairs) {
  std::vector<bar_row> rows;
  for (case_pair const& each : pairs) {
    if (!is_time(each)) rows.push_back(efficiency_row(each));
  }
  return rows;
}

std::string efficiency_part(std::vector<case_pair> const& pairs) {
  std::string rows;
  for (bar_row const& each : efficiency_rows(pairs)) rows += html_bar_row(each);
  if (rows.empty()) return "";
  return fmt::format(
      "<p>{}The whole width is the physical limit; ! is beyond it. GB = 1e9 bytes. At the largest "
      "size of each case.</p>\n{}",
      library_and_raw, rows);
}

std::string times_part(std::vector<case_pair> const& pairs) {
  decades scale;
  for (case_pair const& each : pairs) {
    if (!is_time(each)) continue;
    for (auto const* of : {&each.library, &each.raw}) {
      for (case_result const* one : *of) scale.include(one->measured.seconds.median);
    }
  }
  std::string rows;
  for (case_pair const& each : pairs) {
    if (!is_time(each)) continue;
    auto const& shown = each.library.empty() ? each.raw : each.library;
    for (case_result const* one : shown) {
      rows += time_row(*one, each.library.empty() ? nullptr : beside(each.raw, *one), scale);
    }
  }
  if (rows.empty()) return "";
  return fmt::format("<p>{}Shorter is better. The scale is logarithmic, from {} to {}.</p>\n{}",
                     library_and_raw, format_time(std::pow(10, scale.first)),
                     format_time(std::pow(10, std::max(scale.last, scale.first + 1))), rows);
}

std::string changes_part(comparison const& since) {
  double reach = 0.05;
  for (compared_case const& each : since.cases) {
    if (each.what == change::not_measured) continue;
    reach = std::max(reach, std::min(1.2 * std::abs(each.speed - 1), 1.0));
  }
  std::string counts;
  for (change const what : {change::slower, change::faster, change::same, change::unclear,
                            change::wrong_data, change::not_measured}) {
    auto const count = std::ranges::count(since.cases, what, &compared_case::what);
    if (count == 0) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, to_string(what));
  }
  std::string rows;
  for (compared_case const& each : since.cases) {
    if (each.what == change::not_measured) continue;
    std::string const word = to_string(each.what);
    std::string const range =
        std::isfinite(each.range.high)
            ? fmt::format("{:+.1f} % to {:+.1f} %", 100 * (each.range.low - 1),
                          100 * (each.range.high - 1))
            : "too few samples";
    bool const noisy = each.before->measured.noisy || each.after->measured.noisy;
    rows += html_change_row(each.after->name, size_of(*each.after) + (noisy ? ", noisy" : ""),
                            fmt::format("{:+.1f} %, {}", 100 * (each.speed - 1), word), range,
                            each.range.low - 1, each.range.high - 1, reach,
                            word.substr(0, word.find(' ')));
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<p><b>{}.</b> The middle is no change, the ends are {:+.0f} % and {:+.0f} %; a bar is the "
      "range that the change lies in, by the spread of the samples where a run was noisy. Right is "
      "faster; a pale bar is unclear.</p>\n{}",
      counts, -100 * reach, 100 * reach, rows);
}

}  // namespace rocbench
