// SPDX-License-Identifier: MIT
#include "info_command.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "environment.hpp"
#include "format.hpp"
#include "host_facts.hpp"
#include "limits.hpp"
#include "table.hpp"

namespace rocbench {
namespace {

void print(char const* name, std::string const& value) { fmt::print("  {:<28} {}\n", name, value); }
void print(char const* name, int value) { print(name, fmt::format("{}", value)); }
void print(char const* name, bool value) { print(name, std::string(value ? "yes" : "no")); }

// What a device does not tell is 0.
std::string bytes(std::size_t value) {
  return value == 0 ? "unknown" : format_size(static_cast<double>(value));
}
std::string megahertz(int kilohertz) {
  return kilohertz == 0 ? "unknown" : fmt::format("{:.0f} MHz", kilohertz / 1e3);
}

}  // namespace

exit_code info(roc::device const& device) {
  environment const where = describe(device);
  print_environment(stdout, where, find_limits(device, where));
  auto const memory = device.memory();
  auto const capability = device.compute_capability();
  fmt::print("Device:\n");
  print("memory", bytes(memory.total) + ", " + bytes(memory.free) + " free");
  print("memory clock", megahertz(device.memory_clock_rate()));
  print("memory bus", device.memory_bus_width() == 0
                          ? "unknown"
                          : fmt::format("{} bits", device.memory_bus_width()));
  print("clock", megahertz(device.clock_rate()));
  print("compute capability",
        fmt::format("{}.{}", capability.major_version, capability.minor_version));
  print("multiprocessors", device.multiprocessor_count());
  print("L2 cache", bytes(device.l2_cache_size()));
  print("copies beside kernels", device.async_engine_count());
  print("maps host memory", device.can_map_host_memory());
  print("managed memory", device.has_managed_memory());
  print("concurrent managed access", device.has_concurrent_managed_access());
  print("uses pageable memory", device.has_pageable_memory_access());
  host_facts const host = find_host_facts();
  fmt::print("Host {}:\n", where.host_name);
  print("CPUs", host.num_cpus);
  print("clock", host.mhz_per_cpu == 0 ? "unknown" : fmt::format("{} MHz", host.mhz_per_cpu));
  print("clock is scaled", host.cpu_scaling_enabled);
  std::fflush(stdout);
  return exit_code::ok;
}

}  // namespace rocbench
