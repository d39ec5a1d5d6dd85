// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <regex>
#include <span>
#include <sstream>
#include <system_error>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <roc/roc.hpp>

#include "copy/staging/nontemporal_copy.hpp"
#include "format.hpp"
#include "image.hpp"
#include "platform/call.hpp"

namespace rocbench {

namespace fs = std::filesystem;

std::string first_line(fs::path const& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

std::string value_of_key(fs::path const& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t const begin = line.find_first_not_of(" \t:=\"", key.size());
    std::size_t const end = line.find_last_not_of(" \t\"");
    return begin == std::string::npos ? "" : line.substr(begin, end + 1 - begin);
  }
  return "";
}

fs::path pci_directory(fs::path const& root, std::string bus_id) {
  std::ranges::transform(bus_id, bus_id.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return root / "sys/bus/pci/devices" / bus_id;
}

namespace {

constexpr char const* unknown = "unknown";
constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t page_bytes = 4096;

#if ROCARRAY_PLATFORM_AMD
constexpr char const* platform_name = "amd";
#elif ROCARRAY_PLATFORM_NVIDIA
constexpr char const* platform_name = "nvidia";
#else
constexpr char const* platform_name = "host";
#endif

#ifdef __clang__
constexpr char const* compiler = "Clang " __clang_version__;
#else
constexpr char const* compiler = "GCC " __VERSION__;
#endif

std::string or_unknown(std::string value) { return value.empty() ? unknown : value; }

// The attributes are 0 if the device does not report them.
std::string or_unknown(double value, char const* unit) {
  return value == 0 ? unknown : fmt::format("{:.0f}{}", value, unit);
}

std::string usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return unknown;
  return fmt::format("{} of {}", CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN));
}

std::string library_options() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("ROCARRAY_")) variables.emplace_back(*variable);
  }
  std::ranges::sort(variables);
  return variables.empty() ? "defaults" : fmt::format("{}", fmt::join(variables, ", "));
}

std::vector<fact> attributes(roc::device const& device) {
  auto const capability = device.compute_capability();
  auto const yes_or_no = [](bool value) { return value ? "yes" : "no"; };
  return {
      {"device memory", format_size(device.memory().total)},
      {"device memory clock", or_unknown(device.memory_clock_rate() / 1e3, " MHz")},
      {"device memory bus", or_unknown(device.memory_bus_width(), " bits")},
      {"device clock", or_unknown(device.clock_rate() / 1e3, " MHz")},
      {"compute capability",
       fmt::format("{}.{}", capability.major_version, capability.minor_version)},
      {"multiprocessors", fmt::format("{}", device.multiprocessor_count())},
      {"L2 cache", device.l2_cache_size() == 0 ? unknown : format_size(device.l2_cache_size())},
      {"copy engines", fmt::format("{}", device.async_engine_count())},
      {"can map host memory", yes_or_no(device.can_map_host_memory())},
      {"managed memory", yes_or_no(device.has_managed_memory())},
      {"concurrent managed access", yes_or_no(device.has_concurrent_managed_access())},
      {"pageable memory access", yes_or_no(device.has_pageable_memory_access())},
  };
}

// ---- Properties of GPUs ----

// Returns the level of a file such as pp_dpm_sclk that the driver marks as the current one with an
// asterisk, or the last level.
std::string clock_level(fs::path const& file, bool current) {
  std::ifstream stream(file);
  std::string result = unknown;
  for (std::string line; std::getline(stream, line);) {
    bool const is_current = line.ends_with('*');
    if (current && !is_current) continue;
    std::size_t const begin = line.find(": ");
    if (begin != std::string::npos)
      result = line.substr(begin + 2, line.find_last_not_of(" *") - begin - 1);
  }
  return result;
}

// Returns the number in a file of the driver's sensors times `factor`, with a unit.
std::string sensor(fs::path const& device, char const* file, double factor, char const* unit) {
  std::error_code error;
  double value = 0;
  for (auto const& directory : fs::directory_iterator(device / "hwmon", error)) {
    if (std::ifstream(directory.path() / file) >> value)
      return fmt::format("{:.0f} {}", value * factor, unit);
  }
  return unknown;
}

struct gpu_property {
  char const* name;
  char const* nvidia_query;                         // as nvidia-smi names it
  std::string (*read_amd)(fs::path const& device);  // from the files of AMD's driver
};

constexpr gpu_property constant_properties[] = {
    {"highest clock", "clocks.max.sm",
     [](fs::path const& device) { return clock_level(device / "pp_dpm_sclk", false); }},
    {"highest memory clock", "clocks.max.mem",
     [](fs::path const& device) { return clock_level(device / "pp_dpm_mclk", false); }},
    {"power limit", "power.limit",
     [](fs::path const& device) { return sensor(device, "power1_cap", 1e-6, "W"); }},
    {"ECC", "ecc.mode.current",
     [](fs::path const& device) -> std::string {
       return fs::exists(device / "ras/umc_err_count") ? "errors are counted" : unknown;
     }},
};

constexpr gpu_property changing_properties[] = {
    {"clock", "clocks.sm",
     [](fs::path const& device) { return clock_level(device / "pp_dpm_sclk", true); }},
    {"memory clock", "clocks.mem",
     [](fs::path const& device) { return clock_level(device / "pp_dpm_mclk", true); }},
    {"power", "power.draw",
     [](fs::path const& device) {
       std::string const average = sensor(device, "power1_average", 1e-6, "W");
       return average == unknown ? sensor(device, "power1_input", 1e-6, "W") : average;
     }},
    {"temperature", "temperature.gpu",
     [](fs::path const& device) { return sensor(device, "temp1_input", 1e-3, "°C"); }},
    {"throttling", "clocks_throttle_reasons.active",
     [](fs::path const&) -> std::string { return unknown; }},
};

// Returns the values that nvidia-smi reports for the properties; empty strings if it fails.
std::vector<std::string> query_nvidia_smi(std::span<gpu_property const> properties,
                                          std::string const& bus_id) {
  bool const is_plain = bus_id.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
  std::string command = "timeout 10 nvidia-smi --format=csv,noheader --id=" + bus_id;
  command += " --query-gpu=";
  for (gpu_property const& property : properties)
    command += std::string(property.nvidia_query) + ",";
  command.back() = ' ';
  auto const close = [](std::FILE* pipe) { pclose(pipe); };
  std::unique_ptr<std::FILE, decltype(close)> const pipe(
      is_plain ? popen((command + "2>/dev/null").c_str(), "r") : nullptr, close);
  std::array<char, 1024> line{};
  bool const has_line = pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr;
  std::istringstream fields(has_line ? line.data() : "");
  std::vector<std::string> values(properties.size());
  for (std::string& value : values) {
    std::getline(fields >> std::ws, value, ',');
    while (value.ends_with('\n')) value.pop_back();
  }
  return values;
}

void append_properties(std::vector<fact>& facts, std::span<gpu_property const> properties,
                       std::string const& platform, std::string const& bus_id,
                       fs::path const& root) {
  if (platform != "nvidia") {
    for (gpu_property const& property : properties)
      facts.push_back({property.name, property.read_amd(pci_directory(root, bus_id))});
    return;
  }
  auto const values = query_nvidia_smi(properties, bus_id);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string const name = properties[i].name;
    std::string value = or_unknown(values[i]);
    if (name == "throttling") value = throttle_reasons(values[i]);
    if (name == "temperature" && value != unknown) value += " °C";
    facts.push_back({name, value});
  }
}

// ---- Limits ----

struct pcie_generation {
  double gigatransfers;  // GT/s; one bit per lane and transfer
  char const* name;
  double encoding;  // fraction of the bits that are data
};

// PCIe 6.0 sends flits of 256 bytes, 236 of which are packets.
constexpr pcie_generation pcie_generations[] = {
    {2.5, "1.0", 8.0 / 10},   {5, "2.0", 8.0 / 10},     {8, "3.0", 128.0 / 130},
    {16, "4.0", 128.0 / 130}, {32, "5.0", 128.0 / 130}, {64, "6.0", 236.0 / 256},
};

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
      if (environment.device_name.find(data_sheet.name) != std::string::npos)
        return {data_sheet.rate, "data sheet"};
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
  using copy_function = void (*)(std::byte * to, std::byte const* from, std::size_t bytes);
  constexpr copy_function copy_functions[] = {
      [](std::byte* to, std::byte const* from, std::size_t count) {
        // In steps, since memcpy of a large range uses non-temporal stores.
        for (; count > mebibyte; to += mebibyte, from += mebibyte, count -= mebibyte)
          std::memcpy(to, from, mebibyte);
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

// Throws roc::error.
std::vector<fact> state_of(run_environment const& environment) {
  auto state =
      machine_state(environment.on_gpu ? environment.platform : "host", environment.pci_bus_id);
  auto const memory = roc::device(environment.ordinal).memory();
  state.push_back({"free device memory", format_size(memory.free)});
  return state;
}

}  // namespace

rate_limit pcie_limit(std::string const& bus_id, link_state state, fs::path const& root) {
  std::error_code error;
  auto directory = fs::canonical(pci_directory(root, bus_id), error);
  if (error) return {std::nullopt, "sysfs has no entry for the device"};

  static std::regex const address("[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  std::string const prefix = state == link_state::current ? "current_link_" : "max_link_";
  rate_limit narrowest{std::nullopt, "sysfs does not report the link's speed"};
  for (; std::regex_match(directory.filename().string(), address);
       directory = directory.parent_path()) {
    double gigatransfers = 0;  // the file has for example "32.0 GT/s PCIe", always in GT/s
    int lanes = 0;
    std::ifstream(directory / (prefix + "speed")) >> gigatransfers;
    std::ifstream(directory / (prefix + "width")) >> lanes;
    if (gigatransfers <= 0 || lanes <= 0) continue;
    auto const* const generation =
        std::ranges::find(pcie_generations, gigatransfers, &pcie_generation::gigatransfers);
    if (generation == std::end(pcie_generations))
      return {std::nullopt, fmt::format("unknown PCIe generation with {} GT/s", gigatransfers)};
    double const rate = gigatransfers * 1e9 * lanes * generation->encoding / 8;
    if (!narrowest.rate || rate < *narrowest.rate)
      narrowest = {rate, fmt::format("PCIe {} x{}", generation->name, lanes)};
  }
  return narrowest;
}

cpu_info query_cpu_info(fs::path const& root) {
  fs::path const first_cpu = root / "sys/devices/system/cpu/cpu0";
  cpu_info result;
  result.num_cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  std::string const kilohertz = first_line(first_cpu / "cpufreq/cpuinfo_max_freq");
  std::string const megahertz = value_of_key(root / "proc/cpuinfo", "cpu MHz");
  result.mhz_per_cpu =
      kilohertz.empty() ? std::atoi(megahertz.c_str()) : std::atoi(kilohertz.c_str()) / 1000;
  std::string const governor = first_line(first_cpu / "cpufreq/scaling_governor");
  result.cpu_scaling_enabled = !governor.empty() && governor != "performance";
  double load = 0;
  for (std::ifstream stream(root / "proc/loadavg"); result.load_avg.size() < 3 && stream >> load;)
    result.load_avg.push_back(load);
  return result;
}

std::vector<fact> host_facts(fs::path const& root) {
  std::string const kernel = first_line(root / "proc/sys/kernel/osrelease");
  cpu_info const cpu = query_cpu_info(root);
  return {
      {"CPU", or_unknown(value_of_key(root / "proc/cpuinfo", "model name"))},
      {"CPU clock", or_unknown(cpu.mhz_per_cpu, " MHz")},
      {"CPU frequency scaling", cpu.cpu_scaling_enabled ? "yes" : "no"},
      {"usable CPUs", usable_cpus()},
      {"NUMA nodes", or_unknown(first_line(root / "sys/devices/system/node/online"))},
      {"operating system", or_unknown(value_of_key(root / "etc/os-release", "PRETTY_NAME")) +
                               (kernel.empty() ? "" : ", Linux " + kernel)},
      {"compiler", fmt::format("{}, {}", compiler, build_type)},
      {"commit", or_unknown(ROCBENCH_COMMIT)},
      {"library options", library_options()},
  };
}

std::vector<fact> device_facts(std::string const& platform, std::string const& bus_id,
                               fs::path const& root) {
  fs::path const device = pci_directory(root, bus_id);
  std::string const node = first_line(device / "numa_node");
  std::vector<fact> facts = {
      {"widest link", pcie_limit(bus_id, link_state::maximum, root).origin},
      {"NUMA node of the device", node == "-1" ? unknown : or_unknown(node)},
      {"CPUs near the device", or_unknown(first_line(device / "local_cpulist"))}};
  append_properties(facts, constant_properties, platform, bus_id, root);
  return facts;
}

std::vector<fact> machine_state(std::string const& platform, std::string const& bus_id,
                                fs::path const& root) {
  std::string const load = fmt::format("{}", fmt::join(query_cpu_info(root).load_avg, ", "));
  std::vector<fact> facts = {{"load", or_unknown(load)}};
  if (platform != "host") append_properties(facts, changing_properties, platform, bus_id, root);
  return facts;
}

std::vector<fact> parameter_facts(case_parameters const& parameters) {
  return {{"bytes per row", fmt::format("{}", parameters.row)},
          {"bytes from row to row", fmt::format("{}", parameters.pitch)},
          {"bytes per element", fmt::format("{}", parameters.element)}};
}

std::string throttle_reasons(std::string const& mask) {
  constexpr char const* names[] = {
      "idle",        "clock setting",    "power cap",   "slowdown",     "synchronization",
      "temperature", "high temperature", "power brake", "display clock"};
  char* end = nullptr;
  unsigned long const bits = std::strtoul(mask.c_str(), &end, 16);
  if (end == mask.c_str()) return unknown;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if ((bits >> i & 1) != 0) reasons.emplace_back(names[i]);
  }
  return reasons.empty() ? "none" : fmt::format("{}", fmt::join(reasons, ", "));
}

run_environment describe_environment(roc::device const& device) {
  run_environment result;
  result.platform = platform_name;
  result.ordinal = device.ordinal();
  result.device_name = device.name();
  result.pci_bus_id = device.pci_bus_id();
  result.is_fake_runtime = result.device_name.starts_with("rocarray fake HIP runtime");
  result.on_gpu = result.platform != "host" && !result.is_fake_runtime;
  ROCARRAY_HIP(hipRuntimeGetVersion, &result.runtime_version);
  ROCARRAY_HIP(hipDriverGetVersion, &result.driver_version);
  result.host_name = first_line("/proc/sys/kernel/hostname");
  result.date = fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", fmt::gmtime(std::time(nullptr)));
  result.version = fmt::format("{}.{}.{}", ROCARRAY_VERSION_MAJOR, ROCARRAY_VERSION_MINOR,
                               ROCARRAY_VERSION_PATCH);
  result.facts = host_facts();
  std::ranges::copy(attributes(device), std::back_inserter(result.facts));
  if (result.on_gpu) {
    std::ranges::copy(device_facts(result.platform, result.pci_bus_id),
                      std::back_inserter(result.facts));
  }
  result.state = state_of(result);
  return result;
}

void record_final_state(run_environment& environment) {
  auto const final_state = state_of(environment);
  for (std::size_t i = 0; i < final_state.size(); ++i)
    environment.state.at(i).after = final_state[i].value;
}

std::size_t default_size(roc::device const& device, run_environment const& environment) {
  std::size_t const preferred = (environment.on_gpu ? 256 : 64) * mebibyte;
  std::size_t const available = device.memory().free / 4 / page_bytes * page_bytes;
  return std::clamp(available, page_bytes, preferred);
}

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void with_busy_link(std::function<void()> const& f) {
  constexpr roc::shape<1> shape{16 * mebibyte};
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

}  // namespace rocbench
