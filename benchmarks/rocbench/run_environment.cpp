// SPDX-License-Identifier: MIT
#include "run_environment.hpp"

#include <algorithm>
#include <ctime>

#include <unistd.h>

#include <fmt/format.h>

#include <roc/config.hpp>
#include <roc/native.hpp>

#include "format.hpp"
#include "platform/call.hpp"

namespace rocbench {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

#if ROCARRAY_PLATFORM_AMD
constexpr char const* platform_name = "amd";
#elif ROCARRAY_PLATFORM_NVIDIA
constexpr char const* platform_name = "nvidia";
#else
constexpr char const* platform_name = "host";
#endif

std::string host_name() {
  char name[256] = "";
  static_cast<void>(gethostname(name, sizeof name - 1));
  return name;
}

std::string current_time() {
  std::time_t const seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
  return text;
}

// Throws roc::error.
std::vector<fact> state_of(run_environment const& environment) {
  auto state =
      machine_state(environment.on_gpu ? environment.platform : "host", environment.pci_bus_id);
  auto const memory = roc::device(environment.ordinal).memory();
  state.push_back({"free device memory", format_size(static_cast<double>(memory.free))});
  return state;
}

// The attributes are 0 if the device does not report them.
std::string value_or_unknown(double value, char const* unit) {
  return value == 0 ? "unknown" : fmt::format("{:.0f}{}", value, unit);
}

std::vector<fact> attributes(roc::device const& device) {
  auto const capability = device.compute_capability();
  auto const yes_or_no = [](bool value) { return value ? "yes" : "no"; };
  return {
      {"device memory", format_size(static_cast<double>(device.memory().total))},
      {"device memory clock", value_or_unknown(device.memory_clock_rate() / 1e3, " MHz")},
      {"device memory bus", value_or_unknown(device.memory_bus_width(), " bits")},
      {"device clock", value_or_unknown(device.clock_rate() / 1e3, " MHz")},
      {"compute capability",
       fmt::format("{}.{}", capability.major_version, capability.minor_version)},
      {"multiprocessors", fmt::format("{}", device.multiprocessor_count())},
      {"L2 cache", device.l2_cache_size() == 0
                       ? "unknown"
                       : format_size(static_cast<double>(device.l2_cache_size()))},
      {"copy engines", fmt::format("{}", device.async_engine_count())},
      {"can map host memory", yes_or_no(device.can_map_host_memory())},
      {"managed memory", yes_or_no(device.has_managed_memory())},
      {"concurrent managed access", yes_or_no(device.has_concurrent_managed_access())},
      {"pageable memory access", yes_or_no(device.has_pageable_memory_access())},
  };
}

}  // namespace

run_environment describe_environment(roc::device const& device) {
  run_environment result;
  result.platform = platform_name;
  result.ordinal = device.ordinal();
  result.device_name = device.name();
  result.pci_bus_id = device.pci_bus_id();
  result.is_fake_runtime = result.device_name.starts_with("rocarray fake HIP runtime");
  ROCARRAY_HIP(hipRuntimeGetVersion, &result.runtime_version);
  ROCARRAY_HIP(hipDriverGetVersion, &result.driver_version);
  result.host_name = host_name();
  result.date = current_time();
  result.version = fmt::format("{}.{}.{}", ROCARRAY_VERSION_MAJOR, ROCARRAY_VERSION_MINOR,
                               ROCARRAY_VERSION_PATCH);
  result.on_gpu = result.platform != "host" && !result.is_fake_runtime;
  auto const append = [&](std::vector<fact> const& facts) {
    result.facts.insert(result.facts.end(), facts.begin(), facts.end());
  };
  append(host_facts());
  append(attributes(device));
  if (result.on_gpu) append(device_facts(result.platform, result.pci_bus_id));
  result.state = state_of(result);
  return result;
}

void record_final_state(run_environment& environment) {
  auto const final_state = state_of(environment);
  for (std::size_t i = 0; i < final_state.size(); ++i) {
    environment.state.at(i).after = final_state[i].value;
  }
}

std::size_t default_size(roc::device const& device, run_environment const& environment) {
  std::size_t const preferred = (environment.on_gpu ? 256 : 64) * mebibyte;
  std::size_t const available = device.memory().free / 4 / page * page;
  return std::clamp(available, page, preferred);
}

}  // namespace rocbench
