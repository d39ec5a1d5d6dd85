// SPDX-License-Identifier: MIT
#include "machine_facts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

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

#ifndef ROCBENCH_COMMIT
#define ROCBENCH_COMMIT ""
#endif
#ifdef NDEBUG
constexpr char const* build_type = "release";
#else
constexpr char const* build_type = "debug";
#endif
#ifdef __clang__
constexpr char const* compiler = "Clang " __clang_version__;
#else
constexpr char const* compiler = "GCC " __VERSION__;
#endif

struct port {
  double gigatransfers = 0;  // GT/s; one bit per lane and transfer
  int lanes = 0;
};

struct generation {
  double gigatransfers;
  char const* name;
  double encoding;  // fraction of the bits that are data
};

// PCIe 6.0 sends flits of 256 bytes, 236 of which are packets.
constexpr generation generations[] = {
    {2.5, "1.0", 8.0 / 10},   {5, "2.0", 8.0 / 10},     {8, "3.0", 128.0 / 130},
    {16, "4.0", 128.0 / 130}, {32, "5.0", 128.0 / 130}, {64, "6.0", 236.0 / 256},
};

// A speed is for example "32.0 GT/s PCIe"; its unit is always GT/s.
std::optional<port> read_port(fs::path const& directory, link_state state) {
  std::string const prefix = state == link_state::current ? "current_link_" : "max_link_";
  port result;
  std::ifstream(directory / (prefix + "speed")) >> result.gigatransfers;
  std::ifstream(directory / (prefix + "width")) >> result.lanes;
  return result.gigatransfers > 0 && result.lanes > 0 ? std::optional(result) : std::nullopt;
}

std::string or_unknown(std::string value) { return value.empty() ? unknown : value; }

// Returns the number at the start of a file times `factor`, with a unit; "unknown" if there is
// none.
std::string number_in(fs::path const& file, double factor, char const* unit) {
  double value = 0;
  if (!(std::ifstream(file) >> value)) return unknown;
  return fmt::format("{:.0f} {}", value * factor, unit);
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

// Returns the directory of the driver's sensors, or an empty path if the driver has none.
fs::path sensor_directory(fs::path const& device) {
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(device / "hwmon", error)) return entry.path();
  return {};
}

// Appends facts with the values that nvidia-smi reports for the properties.
struct property {
  char const* fact_name;
  char const* query;
};

void append_nvidia_smi(std::vector<fact>& facts, std::vector<property> const& properties,
                       std::string const& bus_id) {
  bool const is_plain = bus_id.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
  std::string command = "timeout 10 nvidia-smi --format=csv,noheader --id=" + bus_id;
  command += " --query-gpu=";
  for (property const& entry : properties) command += std::string(entry.query) + ",";
  command.back() = ' ';
  auto const close = [](std::FILE* pipe) { pclose(pipe); };
  std::unique_ptr<std::FILE, decltype(close)> const pipe(
      is_plain ? popen((command + "2>/dev/null").c_str(), "r") : nullptr, close);
  std::array<char, 1024> line{};
  bool const has_line = pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr;
  std::istringstream values(has_line ? line.data() : "");
  for (property const& entry : properties) {
    std::string value;
    std::getline(values >> std::ws, value, ',');
    while (value.ends_with('\n')) value.pop_back();
    bool const is_mask = entry.query == std::string_view("clocks_throttle_reasons.active");
    facts.push_back({entry.fact_name, is_mask ? throttle_reasons(value) : or_unknown(value)});
  }
}

// Returns the current level of a file such as pp_dpm_sclk, which marks it with an asterisk, or the
// last level.
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

}  // namespace

rate_limit pcie_limit(std::string const& bus_id, link_state state, fs::path const& root) {
  std::error_code error;
  auto directory = fs::canonical(pci_directory(root, bus_id), error);
  if (error) return {std::nullopt, "sysfs has no entry for the device"};

  static std::regex const address("[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  rate_limit narrowest{std::nullopt, "sysfs does not report the link's speed"};
  for (; std::regex_match(directory.filename().string(), address);
       directory = directory.parent_path()) {
    auto const link = read_port(directory, state);
    if (!link) continue;
    auto const* const matching =
        std::ranges::find(generations, link->gigatransfers, &generation::gigatransfers);
    if (matching == std::end(generations)) {
      return {std::nullopt,
              fmt::format("unknown PCIe generation with {} GT/s", link->gigatransfers)};
    }
    double const rate = link->gigatransfers * 1e9 * link->lanes * matching->encoding / 8;
    if (!narrowest.rate || rate < *narrowest.rate) {
      narrowest = {rate, fmt::format("PCIe {} x{}", matching->name, link->lanes)};
    }
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
  for (std::ifstream stream(root / "proc/loadavg"); result.load_avg.size() < 3 && stream >> load;) {
    result.load_avg.push_back(load);
  }
  return result;
}

std::vector<fact> host_facts(fs::path const& root) {
  std::string const kernel = first_line(root / "proc/sys/kernel/osrelease");
  cpu_info const cpu = query_cpu_info(root);
  return {
      {"CPU", or_unknown(value_of_key(root / "proc/cpuinfo", "model name"))},
      {"CPU clock", cpu.mhz_per_cpu == 0 ? unknown : fmt::format("{} MHz", cpu.mhz_per_cpu)},
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
  if (platform == "nvidia") {
    append_nvidia_smi(facts,
                      {{"highest clock", "clocks.max.sm"},
                       {"highest memory clock", "clocks.max.mem"},
                       {"power limit", "power.limit"},
                       {"ECC", "ecc.mode.current"}},
                      bus_id);
  } else {
    facts.push_back({"highest clock", clock_level(device / "pp_dpm_sclk", false)});
    facts.push_back({"highest memory clock", clock_level(device / "pp_dpm_mclk", false)});
    facts.push_back({"power limit", number_in(sensor_directory(device) / "power1_cap", 1e-6, "W")});
    bool const counts_errors = fs::exists(device / "ras/umc_err_count");
    facts.push_back({"ECC", counts_errors ? "errors are counted" : unknown});
  }
  return facts;
}

std::vector<fact> machine_state(std::string const& platform, std::string const& bus_id,
                                fs::path const& root) {
  std::string const load = fmt::format("{}", fmt::join(query_cpu_info(root).load_avg, ", "));
  std::vector<fact> facts = {{"load", or_unknown(load)}};
  if (platform == "nvidia") {
    append_nvidia_smi(facts,
                      {{"clock", "clocks.sm"},
                       {"memory clock", "clocks.mem"},
                       {"power", "power.draw"},
                       {"temperature in °C", "temperature.gpu"},
                       {"throttling", "clocks_throttle_reasons.active"}},
                      bus_id);
  } else if (platform == "amd") {
    fs::path const device = pci_directory(root, bus_id);
    fs::path const sensors = sensor_directory(device);
    std::string const power = number_in(sensors / "power1_average", 1e-6, "W");
    facts.push_back({"clock", clock_level(device / "pp_dpm_sclk", true)});
    facts.push_back({"memory clock", clock_level(device / "pp_dpm_mclk", true)});
    facts.push_back(
        {"power", power == unknown ? number_in(sensors / "power1_input", 1e-6, "W") : power});
    facts.push_back({"temperature", number_in(sensors / "temp1_input", 1e-3, "°C")});
    facts.push_back({"throttling", unknown});
  }
  return facts;
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

}  // namespace rocbench
