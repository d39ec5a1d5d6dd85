// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "format.hpp"

namespace rocbench {
namespace {

constexpr char const* row_format = "{:<20} {:>9} {:>8} {:>18}  {:>8} {:<18} {:<8} {:<16} {}\n";

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

}  // namespace

void print_header(std::FILE* to, environment const& where, limits const& known) {
  fmt::print(to, "rocbench {}, platform {}, device {}: {} ({})\n", where.version, where.platform,
             where.ordinal, where.device_name, where.pci_bus_id);
  if (where.is_double) {
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
  fmt::print(
      to,
      "GB = 1e9 bytes. Payload counts the bytes that were copied, traffic those read and those "
      "written. ! is beyond the limit.\n\n");
  fmt::print(to, row_format, "case", "size", "GB/s", "p5 to p95", "limit", "percentage of it",
             "counted", "path", "verified");
  std::fflush(to);
}

void print_row(std::FILE* to, case_result const& row) {
  if (row.ended != outcome::measured) {
    fmt::print(to, "{:<20} {:>9} {}: {}\n", row.name, format_size(static_cast<double>(row.bytes)),
               row.ended == outcome::skipped ? "skipped" : "FAILED", row.problem);
  } else {
    summary const& rate = row.measured.rate;
    auto const share = row.efficiency();
    fmt::print(to, row_format, row.name, format_size(static_cast<double>(row.bytes)),
               format_rate(rate.median), format_rate(rate.p5) + " to " + format_rate(rate.p95),
               row.physical.rate ? format_rate(*row.physical.rate) : "unknown",
               share ? text_bar(*share) + " " + format_share(*share) : "", to_string(row.counted),
               row.path, format_verdict(row.measured));
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
