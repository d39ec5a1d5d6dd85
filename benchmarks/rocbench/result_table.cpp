// SPDX-License-Identifier: MIT
#include "result_table.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

// Columns of the three kinds of rows.
constexpr char const* rate_row_format = "{:<22} {:>9} {:>8} {:>18}  {:>8} {:<18} {:<8} {:<19} {}\n";
constexpr char const* time_row_format = "{:<24} {:>9} {:>9} {:>22}  {:<16} {}\n";

constexpr char const* loop_row_format =
    "{:<22} {:>14} {:>10} {:>10} {:>10}  {:>9} {:>8} {:<18} {:<16} {}\n";

// Returns whether the data was right, and why the case is noisy.
std::string format_verdict(measurement const& measured) {
  if (measured.mismatch) return "NO";
  if (!measured.noisy) return "yes";
  summary const& seconds = measured.seconds;
  std::string const width = std::isfinite(seconds.relative_width())
                                ? fmt::format("within {:.1f} %", 100 * seconds.relative_width())
                                : "unknown: too few samples";
  return fmt::format("yes       noisy: {} samples in {:.1f} s, median {}", seconds.count,
                     measured.elapsed, width);
}

void print_limit(std::FILE* file, char const* name, rate_limit const& limit) {
  if (limit.rate) {
    fmt::print(file, "  {:<15} {:>7} GB/s  {}\n", name, format_rate(*limit.rate), limit.origin);
  } else {
    fmt::print(file, "  {:<15} unknown       {}\n", name, limit.origin);
  }
}

void print_not_measured(std::FILE* file, case_result const& result) {
  fmt::print(file, "{:<24} {:>9} {}: {}\n", result.name,
             format_size(static_cast<double>(result.bytes)),
             result.status == outcome::skipped ? "skipped" : "FAILED", result.reason);
}

void print_rate(std::FILE* file, case_result const& result) {
  summary const& rate = result.measured.rate;
  auto const efficiency = result.efficiency();
  fmt::print(file, rate_row_format, result.name, format_size(static_cast<double>(result.bytes)),
             format_rate(rate.median), format_rate(rate.p5) + " to " + format_rate(rate.p95),
             result.physical_limit.rate ? format_rate(*result.physical_limit.rate) : "unknown",
             efficiency ? text_bar(*efficiency) + " " + format_fraction(*efficiency) : "",
             to_string(result.counted), result.path, format_verdict(result.measured));
}

void print_time(std::FILE* file, case_result const& result) {
  summary const& seconds = result.measured.seconds;
  fmt::print(file, time_row_format, result.name, format_size(static_cast<double>(result.bytes)),
             format_time(seconds.median),
             format_time(seconds.p5) + " to " + format_time(seconds.p95), result.path,
             format_verdict(result.measured));
}

// In BabelStream's units: 1e6 bytes per second, seconds.
void print_loop(std::FILE* file, case_result const& result) {
  loop_times const& loop = *result.measured.loop;
  auto const efficiency = result.efficiency();
  auto const seconds = [](double value) { return fmt::format("{:.7f}", value); };
  fmt::print(file, loop_row_format, result.name,
             fmt::format("{:.3f}", result.measured.loop_rate * 1e-6), seconds(loop.min),
             seconds(loop.max), seconds(loop.mean), format_size(static_cast<double>(result.bytes)),
             result.physical_limit.rate ? format_rate(*result.physical_limit.rate) : "unknown",
             efficiency ? text_bar(*efficiency) + " " + format_fraction(*efficiency) : "",
             result.path, format_verdict(result.measured));
}

}  // namespace

void print_environment(std::FILE* file, run_environment const& environment,
                       machine_limits const& limits) {
  fmt::print(file, "rocbench {}, platform {}, device {}: {} ({}), driver {}, runtime {}\n",
             environment.version, environment.platform, environment.ordinal,
             environment.device_name, environment.pci_bus_id, environment.driver_version,
             environment.runtime_version);
  if (environment.is_fake_runtime) {
    fmt::print(file,
               "Measured with the fake HIP runtime on the CPU: these figures are meaningless.\n");
  } else if (!environment.on_gpu) {
    fmt::print(file, "Measured on the CPU: these are not figures of a GPU.\n");
  }
  fmt::print(file, "Physical limits:\n");
  if (environment.on_gpu) {
    print_limit(file, "link, one way", limits.link);
    print_limit(file, "device memory", limits.device_memory);
  } else {
    print_limit(file, "host memory", limits.host_copy);
  }
  std::fflush(file);
}

void result_table::print_headings(row_kind kind) {
  if (headings_ == kind) return;
  headings_ = kind;
  if (kind == row_kind::rate) {
    fmt::print(file_,
               "\nGB = 1e9 bytes. Payload counts each copied byte once; traffic counts bytes read "
               "plus bytes written. ! marks rates above the limit.\n");
    fmt::print(file_, rate_row_format, "case", "size", "GB/s", "p5 to p95", "limit", "% of limit",
               "counted", "path", "verified");
  } else if (kind == row_kind::loop) {
    fmt::print(file_,
               "\nAs in BabelStream: each execution is synchronized, the first is ignored, the "
               "rate is that of the shortest time. MBytes = 1e6 bytes, read plus written; "
               "limits in GB/s.\n");
    fmt::print(file_, loop_row_format, "Function", "MBytes/sec", "Min (sec)", "Max", "Average",
               "size", "limit", "% of limit", "path", "verified");
  } else {
    fmt::print(file_,
               "\nTime of one operation, from the call until its synchronization returns.\n");
    fmt::print(file_, time_row_format, "case", "size", "time", "p5 to p95", "path", "verified");
  }
}

void result_table::print_row(case_result const& result) {
  bool const is_time = result.counted == accounting::time;
  bool const is_measured = result.status == outcome::measured;
  if (is_measured || headings_ == row_kind::none) {
    print_headings(result.measured.loop ? row_kind::loop
                   : is_time            ? row_kind::time
                                        : row_kind::rate);
  }
  if (!is_measured) {
    print_not_measured(file_, result);
  } else if (result.measured.loop) {
    print_loop(file_, result);
  } else if (is_time) {
    print_time(file_, result);
  } else {
    print_rate(file_, result);
  }
  std::fflush(file_);
}

void print_check_result(std::FILE* file, case_result const& result) {
  if (result.status != outcome::measured) {
    print_not_measured(file, result);
  } else {
    fmt::print(file, "{:<24} {:>9} B  {:<16} {}\n", result.name, result.bytes, result.path,
               result.measured.mismatch ? "WRONG DATA" : "correct");
  }
  std::fflush(file);
}

void print_list(std::vector<benchmark_case> const& cases) {
  for (benchmark_case const& benchmark : cases) {
    fmt::print("{:<24} {} ({}{})\n", benchmark.name, benchmark.description,
               to_string(benchmark.counted), benchmark.by_default ? ", by default" : "");
  }
}

}  // namespace rocbench
