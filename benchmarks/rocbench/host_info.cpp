// SPDX-License-Identifier: MIT
#include "host_info.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace rocbench {
namespace {

std::filesystem::path const first_cpu = "/sys/devices/system/cpu/cpu0";

std::string first_line(std::filesystem::path const& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

int max_megahertz() {
  std::string const highest = first_line(first_cpu / "cpufreq/cpuinfo_max_freq");
  if (!highest.empty()) return static_cast<int>(std::strtol(highest.c_str(), nullptr, 10) / 1000);
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("cpu MHz")) {
      return static_cast<int>(std::strtod(line.c_str() + line.find(':') + 1, nullptr));
    }
  }
  return 0;
}

// Returns the bytes of a size such as "32K" or "1M"; without a suffix it counts KiB.
long parse_size(std::string const& size) {
  return std::strtol(size.c_str(), nullptr, 10) * (size.ends_with('M') ? 1L << 20 : 1L << 10);
}

// Counts the bits of a map such as "00000000,00000003".
int count_cpus(std::string const& map) {
  int count = 0;
  for (char const digit : map) {
    char const text[] = {digit, '\0'};
    for (auto bits = std::strtoul(text, nullptr, 16); bits != 0; bits &= bits - 1) ++count;
  }
  return count;
}

std::vector<cpu_cache> query_caches() {
  std::vector<cpu_cache> caches;
  for (int i = 0;; ++i) {
    auto const directory = first_cpu / ("cache/index" + std::to_string(i));
    std::string const type = first_line(directory / "type");
    if (type.empty()) return caches;
    caches.push_back({type, std::atoi(first_line(directory / "level").c_str()),
                      parse_size(first_line(directory / "size")),
                      count_cpus(first_line(directory / "shared_cpu_map"))});
  }
}

}  // namespace

host_info query_host_info() {
  host_info result;
  result.num_cpus = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
  result.mhz_per_cpu = max_megahertz();
  std::string const governor = first_line(first_cpu / "cpufreq/scaling_governor");
  result.cpu_scaling_enabled = !governor.empty() && governor != "performance";
  result.caches = query_caches();
  double load[3];
  int const entries = getloadavg(load, 3);
  if (entries > 0) result.load_avg.assign(load, load + entries);
  return result;
}

}  // namespace rocbench
