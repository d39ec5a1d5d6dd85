// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr char const* rates_format = "{:<22} {:>9} {:>8} {:>18}  {:>8} {:<18} {:<8} {:<19} {}\n";

constexpr char const* times_format = "{:<24} {:>9} {:>9} {:>22}  {:<16} {}\n";

constexpr char const* loops_format =
    "{:<22} {:>14} {:>10} {:>10} {:>10}  {:>9} {:>8} {:<18} {:<16} {}\n";

// Whether the data arrived, and behind it what is to be known about the figures.
std::string format_verdict(measurement const& measured) {
  if (measured.mismatch) return "NO";
  if (!measured.noisy) return "yes";
  summary const& seconds = measured.seconds;
  std::string const width = std::isfinite(seconds.relative_width())
                                ? fmt::format("within {:.1f} %", 100 * seconds.relative_width())
                                : "too few to say";
  return fmt::format("yes       noisy: {} samples in {:.1f} s, median {}", seconds.count,
                     measured.spent, width);
}

void print_limit(std::FILE* to, char const* name, limit const& of) {
  if (of.rate) {
    fmt::print(to, "  {:<15} {:>7} GB/s  {}\n", name, format_rate(*of.rate), of.origin);
  } else {
    fmt::print(to, "  {:<15} unknown       {}\n", name, of.origin);
  }
}

void print_unmeasured(std::FILE* to, case_result const& of) {
  fmt::print(to, "{:<24} {:>9} {}: {}\n", of.name, format_size(static_cast<double>(of.bytes)),
             of.ended == outcome::skipped ? "skipped" : "FAILED", of.problem);
}

void print_rate(std::FILE* to, case_result const& of) {
  summary const& rate = of.measured.rate;
  auto const share = of.efficiency();
  fmt::print(to, rates_format, of.name, format_size(static_cast<double>(of.bytes)),
             format_rate(rate.median), format_rate(rate.p5) + " to " + format_rate(rate.p95),
             of.physical.rate ? format_rate(*of.physical.rate) : "unknown",
             share ? text_bar(*share) + " " + format_share(*share) : "", to_string(of.counted),
             of.path, format_verdict(of.measured));
}

void print_time(std::FILE* to, case_result const& of) {
  summary const& seconds = of.measured.seconds;
  fmt::print(to, times_format, of.name, format_size(static_cast<double>(of.bytes)),
             format_time(seconds.median),
             format_time(seconds.p5) + " to " + format_time(seconds.p95), of.path,
             format_verdict(of.measured));
}

// As BabelStream says it: 1e6 bytes, seconds.
void print_loop(std::FILE* to, case_result const& of) {
  loop_times const& loop = *of.measured.loop;
  auto const share = of.efficiency();
  auto const seconds = [](double value) { return fmt::format("{:.7f}", value); };
  fmt::print(to, loops_format, of.name, fmt::format("{:.3f}", of.measured.loop_rate * 1e-6),
             seconds(loop.least), seconds(loop.greatest), seconds(loop.mean),
             format_size(static_cast<double>(of.bytes)),
             of.physical.rate ? format_rate(*of.physical.rate) : "unknown",
             share ? text_bar(*share) + " " + format_share(*share) : "", of.path,
             format_verdict(of.measured));
}

}  // namespace

void print_environment(std::FILE* to, environment const& where, limits const& known) {
  fmt::print(to, "rocbench {}, platform {}, device {}: {} ({}), driver {}, runtime {}\n",
             where.version, where.platform, where.ordinal, where.device_name, where.pci_bus_id,
             where.driver_version, where.runtime_version);
  if (where.is_fake_runtime) {
    fmt::print(to, "This is the CPU double of AMD's runtime: its figures mean nothing.\n");
  } else if (!where.on_gpu) {
    fmt::print(to, "The CPU plays the device: these figures say nothing about a GPU.\n");
  }
  fmt::print(to, "Physical limits:\n");
  if (where.on_gpu) {
    print_limit(to, "link, one way", known.link);
    print_limit(to, "device memory", known.device_memory);
  } else {
    print_limit(to, "host memory", known.host_copy);
  }
  std::fflush(to);
}

void table::names(columns wanted) {
  if (shown_ == wanted) return;
  shown_ = wanted;
  if (wanted == columns::rates) {
    fmt::print(
        to_,
        "\nGB = 1e9 bytes. Payload counts the bytes that were copied, traffic those read and "
        "those written. ! is beyond the limit.\n");
    fmt::print(to_, rates_format, "case", "size", "GB/s", "p5 to p95", "limit", "percentage of it",
               "counted", "path", "verified");
  } else if (wanted == columns::loops) {
    fmt::print(to_,
               "\nAs BabelStream does: each run is waited for, the first is left out, the rate is "
               "that of the least time. MBytes = 1e6 bytes, those read and those written; limits "
               "in GB/s.\n");
    fmt::print(to_, loops_format, "Function", "MBytes/sec", "Min (sec)", "Max", "Average", "size",
               "limit", "percentage of it", "path", "verified");
  } else {
    fmt::print(to_, "\nTimes of one operation, from the call to the end of the wait for it.\n");
    fmt::print(to_, times_format, "case", "size", "time", "p5 to p95", "path", "verified");
  }
}

void table::row(case_result const& of) {
  bool const times = of.counted == accounting::time;
  bool const measured = of.ended == outcome::measured;
  if (measured || shown_ == columns::none) {
    names(of.measured.loop ? columns::loops : times ? columns::times : columns::rates);
  }
  if (!measured) {
    print_unmeasured(to_, of);
  } else if (of.measured.loop) {
    print_loop(to_, of);
  } else if (times) {
    print_time(to_, of);
  } else {
    print_rate(to_, of);
  }
  std::fflush(to_);
}

void print_checked(std::FILE* to, case_result const& of) {
  if (of.ended != outcome::measured) {
    print_unmeasured(to, of);
  } else {
    fmt::print(to, "{:<24} {:>9} B  {:<16} {}\n", of.name, of.bytes, of.path,
               of.measured.mismatch ? "WRONG" : "arrived whole");
  }
  std::fflush(to);
}

void print_list(std::vector<benchmark_case> const& cases) {
  for (benchmark_case const& each : cases) {
    fmt::print("{:<24} {} ({}{})\n", each.name, each.description, to_string(each.counted),
               each.by_default ? ", by default" : "");
  }
}

}  // namespace rocbench
