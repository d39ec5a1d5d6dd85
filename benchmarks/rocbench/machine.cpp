// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/device_array.hpp>
#include <roc/host_array.hpp>
#include <roc/native.hpp>

#include "copy/staging/nontemporal_copy.hpp"
#include "format.hpp"
#include "image.hpp"
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
  state.push_back({"free device memory", format_size(memory.free)});
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
      {"device memory", format_size(device.memory().total)},
      {"device memory clock", value_or_unknown(device.memory_clock_rate() / 1e3, " MHz")},
      {"device memory bus", value_or_unknown(device.memory_bus_width(), " bits")},
      {"device clock", value_or_unknown(device.clock_rate() / 1e3, " MHz")},
      {"compute capability",
       fmt::format("{}.{}", capability.major_version, capability.minor_version)},
      {"multiprocessors", fmt::format("{}", device.multiprocessor_count())},
      {"L2 cache", device.l2_cache_size() == 0 ? "unknown" : format_size(device.l2_cache_size())},
      {"copy engines", fmt::format("{}", device.async_engine_count())},
      {"can map host memory", yes_or_no(device.can_map_host_memory())},
      {"managed memory", yes_or_no(device.has_managed_memory())},
      {"concurrent managed access", yes_or_no(device.has_concurrent_managed_access())},
      {"pageable memory access", yes_or_no(device.has_pageable_memory_access())},
  };
}

struct device_rate {
  std::string_view name;
  double rate;
};

// AMD's attributes report half of the rate for some devices and nothing for others, so these are
// the data sheets' rates; an MI250's is that of one of its two devices.
constexpr device_rate known_device_rates[] = {
    {"MI355X", 8.0e12},  {"MI350X", 8.0e12},   {"MI325X", 6.0e12},   {"MI300X", 5.3e12},
    {"MI300A", 5.3e12},  {"MI250", 1.6384e12}, {"MI210", 1.6384e12}, {"MI100", 1.2288e12},
    {"7900 XTX", 960e9}, {"W7900", 864e9},     {"9070 XT", 640e9},   {"R9700", 640e9},
};

rate_limit device_memory_limit(roc::device const& device, run_environment const& environment) {
  if (environment.platform == "amd") {
    for (device_rate const& data_sheet : known_device_rates) {
      if (environment.device_name.find(data_sheet.name) != std::string::npos) {
        return {data_sheet.rate, "data sheet"};
      }
    }
    return {std::nullopt, "no data sheet for this device"};
  }
  double const clock = device.memory_clock_rate() * 1e3;
  double const width = device.memory_bus_width() / 8.0;
  if (clock <= 0 || width <= 0) return {std::nullopt, "not reported by the device"};
  return {2 * clock * width, "memory clock"};
}

// Returns the best rate of copies in host memory, of every kind that a case may use: memory of the
// library and of the system, from one thread to all cores, with and without non-temporal stores.
rate_limit measured_host_copy(std::size_t bytes) {
  using copy_function = void (*)(std::byte* to, std::byte const* from, std::size_t bytes);
  constexpr copy_function copy_functions[] = {
      [](std::byte* to, std::byte const* from, std::size_t count) {
        // In steps, since memcpy of a large range uses non-temporal stores.
        constexpr std::size_t step = std::size_t{1} << 20;
        for (; count > step; to += step, from += step, count -= step) std::memcpy(to, from, step);
        std::memcpy(to, from, count);
      },
      [](std::byte* to, std::byte const* from, std::size_t count) {
        roc::transfer::nontemporal_copy(to, from, count);
        roc::transfer::nontemporal_fence();
      }};
  std::size_t const cores = std::max(std::thread::hardware_concurrency(), 1u);
  double best = 0;
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    roc::host_array<std::byte> source(roc::shape<1>{bytes}, roc::order::c, kind);
    roc::host_array<std::byte> destination(roc::shape<1>{bytes}, roc::order::c, kind);
    fill_bytes(source.data(), bytes, 1);
    fill_bytes(destination.data(), bytes, 2);
    for (copy_function const copy : copy_functions) {
      for (std::size_t threads = 1;; threads = std::min(2 * threads, cores)) {
        for (int i = 0; i < 5; ++i) {
          auto const begin = std::chrono::steady_clock::now();
          in_threads(threads, bytes, [&](std::size_t first, std::size_t last) {
            copy(destination.data() + first, source.data() + first, last - first);
          });
          std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - begin;
          best = std::max(best, static_cast<double>(bytes) / seconds.count());
        }
        if (threads == cores) break;
      }
    }
  }
  return {best, "best measured copy"};
}

rate_limit scaled(rate_limit limit, double factor) {
  if (limit.rate) *limit.rate *= factor;
  return limit;
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

void with_busy_link(std::function<void()> const& f) {
  constexpr roc::shape<1> shape{std::size_t{16} << 20};
  auto host_buffer = roc::pinned_array<std::byte>(shape);
  roc::device_array<std::byte> device_buffer(shape);
  roc::stream stream;
  for (int i = 0; i < 64; ++i) roc::copy(host_buffer, device_buffer, stream);
  f();
  stream.synchronize();
}

machine_limits find_machine_limits(roc::device const& device, run_environment const& environment) {
  machine_limits result;
  if (environment.on_gpu) {
    with_busy_link([&] { result.link = pcie_limit(environment.pci_bus_id, link_state::current); });
    result.device_memory = device_memory_limit(device, environment);
  } else {
    result.host_copy = measured_host_copy(default_size(device, environment));
  }
  return result;
}

rate_limit limit_of(benchmark_case const& benchmark, machine_limits const& limits) {
  if (benchmark.limited_by == limiting_resource::none) return {std::nullopt, "software"};
  if (limits.host_copy.rate) {
    // Source and destination are both in host memory. Work that only writes or only reads was not
    // measured.
    bool const writes_only = benchmark.limited_by == limiting_resource::device_memory &&
                             benchmark.counted == accounting::payload;
    if (writes_only || benchmark.limited_by == limiting_resource::device_memory_reads) {
      return {std::nullopt, "not measured"};
    }
    return scaled(limits.host_copy, benchmark.counted == accounting::traffic ? 2 : 1);
  }
  switch (benchmark.limited_by) {
    case limiting_resource::link: return limits.link;
    case limiting_resource::link_bidirectional: return scaled(limits.link, 2);
    case limiting_resource::device_memory:
    case limiting_resource::device_memory_reads: return limits.device_memory;
    case limiting_resource::none: break;
  }
  return {};
}

}  // namespace rocbench
