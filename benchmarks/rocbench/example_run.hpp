// SPDX-License-Identifier: MIT
// Example results for the tests of result files, comparisons and reports.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "benchmark_run.hpp"

namespace rocbench {

inline summary summary_around(double median, double width) {
  return {20,
          median,
          median * (1 - 2 * width),
          median * (1 + 2 * width),
          {median * (1 - width), median * (1 + width)}};
}

/// Returns a measured case. The confidence interval of the median extends by the fraction `width`
/// of the median to both sides.
inline case_result example_result(std::string const& name, std::size_t bytes, double rate,
                                  double width = 0.002) {
  case_result result;
  result.name = name;
  result.bytes = bytes;
  result.path = "dma";
  result.physical_limit = {64e9, "PCIe 5.0 x16"};
  measurement& measured = result.measured;
  measured.rate = summary_around(rate, width);
  measured.seconds = summary_around(static_cast<double>(bytes) / rate, width);
  measured.cpu_seconds = 2e-6;
  measured.executions = 60;
  measured.batch = 3;
  measured.elapsed = 0.5;
  return result;
}

/// Returns a run on a device with known limits: one correct case, one with wrong data, one skipped
/// and one failed.
inline benchmark_run example_run() {
  benchmark_run result;
  result.environment = {.platform = "nvidia",
                        .ordinal = 1,
                        .device_name = "Example GPU",
                        .pci_bus_id = "0000:c1:00.0",
                        .runtime_version = 13000,
                        .driver_version = 13010,
                        .host_name = "machine",
                        .date = "2026-01-02T03:04:05+00:00",
                        .version = "0.1.0",
                        .facts = {{"CPU", "Example CPU"}},
                        .state = {{"clock", "345 MHz", "1980 MHz"}}};
  result.limits.link = {64e9, "PCIe 5.0 x16"};
  result.limits.device_memory = {std::nullopt, "not reported by the device"};
  result.results.push_back(example_result("h2d/pinned", 1 << 20, 32e9));
  result.results.push_back(example_result("d2d/copy", 1 << 20, 2e12));
  result.results.back().counted = accounting::traffic;
  result.results.back().physical_limit = {std::nullopt, "not reported by the device"};
  result.results.back().measured.mismatch = "sample 1: payload byte 7 is 0x80, not 0x81";
  for (outcome const status : {outcome::skipped, outcome::failed}) {
    case_result unmeasured;
    unmeasured.name = status == outcome::skipped ? "managed/fault" : "d2h/pinned";
    unmeasured.bytes = 4096;
    unmeasured.status = status;
    unmeasured.reason = "no \"managed\" memory,\nhere";
    result.results.push_back(unmeasured);
  }
  return result;
}

/// Expects that the text contains each part, or none of them.
inline void expect_parts(std::string const& text, std::initializer_list<std::string_view> parts,
                         bool contained = true) {
  for (std::string_view const part : parts)
    EXPECT_EQ(text.find(part) != std::string::npos, contained) << part << "\n" << text;
}

}  // namespace rocbench
