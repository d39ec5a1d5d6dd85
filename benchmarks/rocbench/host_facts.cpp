// SPDX-License-Identifier: MIT
#include "host_facts.hpp"

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

int megahertz() {
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

// "32K", "1024K".
long bytes_of(std::string const& size) {
  return std::strtol(size.c_str(), nullptr, 10) * (size.ends_with('M') ? 1L << 20 : 1L << 10);
}

// The bits of "00000000,00000003".
int cpus_in(std::string const& map) {
  int count = 0;
  for (char const digit : map) {
    char const text[] = {digit, '\0'};
    for (auto bits = std::strtoul(text, nullptr, 16); bits != 0; bits &= bits - 1) ++count;
  }
  return count;
}

std::vector<cpu_cache> find_caches() {
  std::vector<cpu_cache> caches;
  for (int i = 0;; ++i) {
    auto const folder = first_cpu / ("cache/index" + std::to_string(i));
    std::string const type = first_line(folder / "type");
    if (type.empty()) return caches;
    caches.push_back({type, std::atoi(first_line(folder / "level").c_str()),
                      bytes_of(first_line(folder / "size")),
                      cpus_in(first_line(folder / "shared_cpu_map"))});
  }
}

}  // namespace

host_facts find_host_facts() {
  host_facts result;
  result.num_cpus = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
  result.mhz_per_cpu = megahertz();
  std::string const governor = first_line(first_cpu / "cpufreq/scaling_governor");
  result.cpu_scaling_enabled = !governor.empty() && governor != "performance";
  result.caches = find_caches();
  double load[3];
  int const known = getloadavg(load, 3);
  if (known > 0) result.load_avg.assign(load, load + known);
  return result;
}

}  // namespace rocbench
