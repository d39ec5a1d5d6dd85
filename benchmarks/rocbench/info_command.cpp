// SPDX-License-Identifier: MIT
#include "info_command.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "format.hpp"
#include "host_info.hpp"
#include "machine_limits.hpp"
#include "result_table.hpp"
#include "run_environment.hpp"

namespace rocbench {
namespace {

void print(char const* name, std::string const& value) { fmt::print("  {:<28} {}\n", name, value); }
void print(char const* name, int value) { print(name, fmt::format("{}", value)); }
void print(char const* name, bool value) { print(name, std::string(value ? "yes" : "no")); }

// The attributes are 0 if the device does not report them.
std::string bytes_or_unknown(std::size_t value) {
  return value == 0 ? "unknown" : format_size(static_cast<double>(value));
}
std::string megahertz_or_unknown(int kilohertz) {
  return kilohertz == 0 ? "unknown" : fmt::format("{:.0f} MHz", kilohertz / 1e3);
}

}  // namespace

exit_code info(roc::device const& device) {
  run_environment const environment = describe_environment(device);
  print_environment(stdout, environment, find_machine_limits(device, environment));
  auto const memory = device.memory();
  auto const capability = device.compute_capability();
  fmt::print("Device:\n");
  print("memory", bytes_or_unknown(memory.total) + ", " + bytes_or_unknown(memory.free) + " free");
  print("memory clock", megahertz_or_unknown(device.memory_clock_rate()));
  print("memory bus", device.memory_bus_width() == 0
                          ? "unknown"
                          : fmt::format("{} bits", device.memory_bus_width()));
  print("clock", megahertz_or_unknown(device.clock_rate()));
  print("compute capability",
        fmt::format("{}.{}", capability.major_version, capability.minor_version));
  print("multiprocessors", device.multiprocessor_count());
  print("L2 cache", bytes_or_unknown(device.l2_cache_size()));
  print("copy engines", device.async_engine_count());
  print("can map host memory", device.can_map_host_memory());
  print("managed memory", device.has_managed_memory());
  print("concurrent managed access", device.has_concurrent_managed_access());
  print("pageable memory access", device.has_pageable_memory_access());
  host_info const host = query_host_info();
  fmt::print("Host {}:\n", environment.host_name);
  print("CPUs", host.num_cpus);
  print("clock", host.mhz_per_cpu == 0 ? "unknown" : fmt::format("{} MHz", host.mhz_per_cpu));
  print("frequency scaling", host.cpu_scaling_enabled);
  std::fflush(stdout);
  return exit_code::ok;
}

}  // namespace rocbench
