// SPDX-License-Identifier: MIT
// Results with known values, for tests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmark_run.hpp"

namespace rocbench {

inline constexpr std::size_t mebi = 1 << 20;

inline summary summary_around(double median, double width) {
  interval const range{median * (1 - width), median * (1 + width)};
  return {20, median, median * (1 - 2 * width), median * (1 + 2 * width), range};
}

// Returns a measured case. The confidence interval of the median extends by the fraction `width` of
// the median to both sides.
inline case_result example_result(std::string const& name, std::size_t bytes, double rate,
                                  double width = 0.002) {
  case_result result{.name = name, .bytes = bytes, .path = "dma"};
  result.physical_limit = {64e9, "PCIe 5.0 x16"};
  result.measured = {.rate = summary_around(rate, width),
                     .seconds = summary_around(static_cast<double>(bytes) / rate, width),
                     .cpu_seconds = 2e-6,
                     .executions = 60,
                     .batch = 3,
                     .elapsed = 0.5};
  return result;
}

// Returns a run on a device with known limits, with these results.
inline benchmark_run run_of(std::vector<case_result> results) {
  return {{.platform = "nvidia",
           .ordinal = 1,
           .device_name = "Example GPU",
           .pci_bus_id = "0000:c1:00.0",
           .runtime_version = 13000,
           .driver_version = 13010,
           .host_name = "machine",
           .date = "2026-01-02T03:04:05+00:00",
           .version = "0.1.0",
           .facts = {{"CPU", "Example CPU"}},
           .state = {{"clock", "345 MHz", "1980 MHz"}}},
          {.link = {64e9, "PCIe 5.0 x16"},
           .device_memory = {std::nullopt, "not reported by the device"}},
          std::move(results)};
}

// Returns a run with one correct case, one with wrong data, one skipped and one failed.
inline benchmark_run example_run() {
  case_result wrong = example_result("d2d/copy", mebi, 2e12);
  wrong.counted = accounting::traffic;
  wrong.physical_limit = {std::nullopt, "not reported by the device"};
  wrong.measured.mismatch = "sample 1: payload byte 7 is 0x80, not 0x81";
  case_result skipped{.name = "managed/fault", .bytes = 4096, .status = outcome::skipped};
  skipped.reason = "no \"managed\" memory,\nhere";
  case_result failed = skipped;
  failed.name = "d2h/pinned";
  failed.status = outcome::failed;
  return run_of({example_result("h2d/pinned", mebi, 32e9), wrong, skipped, failed});
}

}  // namespace rocbench
