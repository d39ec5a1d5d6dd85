// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <cmath>
#include <cstdio>
#include <iterator>

#include <fmt/format.h>

#include <roc/config.hpp>

namespace rocbench {
namespace {

constexpr char const* row = "{:<19} {:>9} {:>9} {:>20}  {:<14} {:<8} {}\n";

// Three digits at least, whatever the link's speed.
std::string format_rate(double bytes_a_second) {
  double const rate = bytes_a_second * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 1 ? 4 : rate < 100 ? 2 : 1);
}

// Whether the data arrived, and behind it what is to be known about the figures.
std::string format_verdict(measurement const& measured) {
  if (measured.mismatch) return "NO";
  if (!measured.noisy) return "yes";
  summary const& rate = measured.rate;
  std::string const width = std::isfinite(rate.relative_width())
                                ? fmt::format("within {:.1f} %", 100 * rate.relative_width())
                                : "too few to say";
  return fmt::format("yes       noisy: {} samples in {:.1f} s, median {}", rate.count,
                     measured.seconds, width);
}

}  // namespace

std::string format_size(std::size_t bytes) {
  constexpr char const* units[] = {"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

void print_header(environment const& where) {
  fmt::print("rocbench {}.{}.{}, platform {}, device {}: {} ({})\n", ROC_VERSION_MAJOR,
             ROC_VERSION_MINOR, ROC_VERSION_PATCH, where.platform, where.ordinal, where.device_name,
             where.pci_bus_id);
  if (where.is_double) {
    fmt::print("This is the CPU double of AMD's runtime: its figures mean nothing.\n");
  } else if (!where.on_gpu) {
    fmt::print("The CPU plays the device: these figures say nothing about a GPU.\n");
  }
  fmt::print(
      "GB = 1e9 bytes. Payload counts the bytes that were copied, traffic those read and those "
      "written.\n\n");
  fmt::print(row, "case", "size", "GB/s", "p5 to p95", "path", "counted", "verified");
  std::fflush(stdout);
}

void print_row(benchmark_case const& of, std::size_t bytes, std::string const& path,
               measurement const& measured) {
  summary const& rate = measured.rate;
  fmt::print(row, of.name, format_size(bytes), format_rate(rate.median),
             format_rate(rate.p5) + " to " + format_rate(rate.p95), path, to_string(of.counted),
             format_verdict(measured));
  std::fflush(stdout);
}

void print_list(std::vector<benchmark_case> const& cases) {
  for (benchmark_case const& each : cases) {
    fmt::print("{:<19} {} ({})\n", each.name, each.description, to_string(each.counted));
  }
}

}  // namespace rocbench
