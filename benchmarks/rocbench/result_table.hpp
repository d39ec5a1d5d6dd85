// SPDX-License-Identifier: MIT
// Results as text: pairs of the library and HIP, what a run shows in a few sentences, and the
// tables of the commands that measure and of `info`.
#pragma once

#include <cstdio>
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
  /// Returns the results of both.
  std::vector<case_result const*> both() const;
  /// Returns the result of HIP's own call for the same case and size. Returns null if it was not
  /// measured, or if `result` is one of HIP's own calls.
  case_result const* counterpart(case_result const& result) const;
};

/// Returns the name without "raw/".
std::string base_name(std::string const& name);

/// Returns the measured cases without wrong data, in the order of the run. The result points into
/// `run`.
std::vector<case_pair> pair_cases(benchmark_run const& run);

/// The results of a case for all pairs of devices, at one size.
struct device_matrix {
  std::string name;  ///< without the devices: "peer/copy"
  std::size_t bytes;
  std::vector<int> devices = {};               ///< ordinals, ascending
  std::vector<case_result const*> cells = {};  ///< in C order; null if not measured

  /// Returns the copy from one device to another, by their positions in `devices`; null if it was
  /// not measured.
  case_result const* at(std::size_t from, std::size_t to) const {
    return cells[from * devices.size() + to];
  }
  /// Returns the number of measured cells.
  std::size_t count() const;
  /// Returns the speed of a measured cell divided by that of the fastest one.
  double relative_speed(case_result const& cell) const;
  /// Returns the name, the size and what the cells show: "peer/copy, 64 MiB, GB/s".
  std::string title() const;
};

/// Returns the matrices of the measured cases without wrong data. A case in both directions is in
/// the cells of both. The result points into `run`.
std::vector<device_matrix> device_matrices(benchmark_run const& run);

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

// ---- Tables ----

/// The capabilities of the terminal or file that a table is written to.
struct terminal {
  std::size_t columns = 80;
  bool has_color = false;

  /// Returns the window's width, or that of the variable COLUMNS, and 80 if neither is known. There
  /// are colors if the file is a terminal and NO_COLOR is not set.
  static terminal of(std::FILE* file);
};

/// Prints the device, the versions and the physical limits.
void print_environment(std::FILE* file, run_environment const& environment,
                       machine_limits const& limits);

/// Prints the facts about the machine and its state, as `info` does.
void print_facts(std::FILE* file, run_environment const& environment);

/// Prints a line per case and size: the library, HIP's own call, and their ratio. Terminals of at
/// least 120 columns have more columns. Figures of BabelStream's loops have that tool's columns.
class result_table {
 public:
  /// @param planned all cases to come; a result is printed when that of its raw counterpart arrives
  result_table(std::FILE* file, std::vector<benchmark_case> const& planned)
      : result_table(file, planned, terminal::of(file)) {}
  result_table(std::FILE* file, std::vector<benchmark_case> const& planned, terminal shown_on);

  void print_row(case_result const& result);
  /// Prints the results that wait for their counterpart, and what the run shows.
  void finish(benchmark_run const& run);

 private:
  void print_matrices(benchmark_run const& run) const;
  void print_bus_bandwidths(benchmark_run const& run) const;
  void print_device_rates(benchmark_run const& run) const;
  void print_pair(case_result const* library, case_result const* raw);
  void print_headings(char const* explanation, std::string const& columns);
  std::string cells_of_pair(case_result const* library, case_result const* raw) const;
  std::string colored(std::string const& text, char const* color) const;

  std::FILE* file_;
  terminal terminal_;
  std::vector<std::string> planned_;   // names
  std::size_t name_width_;             // columns of the names
  std::vector<case_result> waiting_;   // results of the library
  char const* explanation_ = nullptr;  // of the headings that were printed last
};

/// Prints a result of `check`: whether the data arrived.
void print_check_result(std::FILE* file, case_result const& result);

}  // namespace rocbench
