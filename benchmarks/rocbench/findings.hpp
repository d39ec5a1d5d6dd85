// SPDX-License-Identifier: MIT
// Summarizes a run in a few sentences, for the end of the terminal's table and the top of the page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmark_run.hpp"

namespace rocbench {

/// The results of a case and of its raw counterpart, by ascending size. One of them may be empty.
struct case_pair {
  std::string name;  ///< without "raw/"
  std::vector<case_result const*> library;
  std::vector<case_result const*> raw;

  /// Returns the library's results, or the raw results if the library has none.
  std::vector<case_result const*> const& shown() const { return library.empty() ? raw : library; }
  /// Returns the result of HIP's own call for the same case and size. Returns null if it was not
  /// measured, or if `result` is one of HIP's own calls.
  case_result const* counterpart(case_result const& result) const;
};

/// Returns the name without "raw/".
std::string base_name(std::string const& name);

/// Returns the measured cases without wrong data, in the order of the run. The result points into
/// `run`.
std::vector<case_pair> pair_cases(benchmark_run const& run);

/// Returns the speed of the library divided by that of HIP's call: above 1, the library is faster.
double ratio_to(case_result const& library, case_result const& raw);

/// Returns the result's name and size, such as "h2d/pinned at 256 MiB".
std::string describe(case_result const& result);

/// Returns the reported rate in GB/s without the unit, or the time if the case counts time.
std::string format_value(case_result const& result);
/// Returns the 5th to the 95th percentile in the form of format_value().
std::string format_spread(case_result const& result);

/// Returns a warning if the device is not a GPU; empty otherwise.
std::string device_warning(run_environment const& environment);

enum class finding_kind : unsigned char { good, notice, bad };

struct finding {
  finding_kind kind;
  std::string text;
};

/// A ratio below this counts as slower than HIP's own call, one above its inverse as faster.
inline constexpr double slower_ratio = 0.97;

/// Returns the verdict on the data and the ratios to HIP first; then, if there are any, the cases
/// below slower_ratio, above the physical limit, noisy and not measured.
std::vector<finding> find_in(benchmark_run const& run);

}  // namespace rocbench
