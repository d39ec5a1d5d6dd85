// SPDX-License-Identifier: MIT
#include "example_document.hpp"

namespace rocbench {
namespace {

summary around(double median, double width) {
  return {20,
          median,
          median * (1 - 2 * width),
          median * (1 + 2 * width),
          {median * (1 - width), median * (1 + width)}};
}

}  // namespace

case_result example_result(std::string const& name, std::size_t bytes, double rate, double width) {
  case_result result;
  result.name = name;
  result.bytes = bytes;
  result.path = "dma";
  result.physical = {64e9, "PCIe 5.0 x16"};
  measurement& measured = result.measured;
  measured.rate = around(rate, width);
  measured.seconds = around(static_cast<double>(bytes) / rate, width);
  measured.cpu_seconds = 2e-6;
  measured.executions = 60;
  measured.batch = 3;
  measured.spent = 0.5;
  return result;
}

document example_document() {
  document result;
  result.where = {"nvidia", 1,     "Example GPU", "0000:c1:00.0", true,
                  false,    13000, 13010,         "machine",      "2026-01-02T03:04:05+00:00",
                  "0.1.0"};
  result.known.link = {64e9, "PCIe 5.0 x16"};
  result.known.device_memory = {std::nullopt, "the device does not tell"};
  result.results.push_back(example_result("h2d/pinned", 1 << 20, 32e9));
  result.results.push_back(example_result("d2d/copy", 1 << 20, 2e12));
  result.results.back().counted = accounting::traffic;
  result.results.back().physical = {std::nullopt, "the device does not tell"};
  result.results.back().measured.mismatch = "sample 1: payload byte 7 is 0x80, not 0x81";
  for (outcome const ended : {outcome::skipped, outcome::failed}) {
    case_result other;
    other.name = ended == outcome::skipped ? "managed/fault" : "d2h/pinned";
    other.bytes = 4096;
    other.ended = ended;
    other.problem = "no \"managed\" memory,\nhere";
    result.results.push_back(other);
  }
  return result;
}

}  // namespace rocbench
