// SPDX-License-Identifier: MIT
#include "runtime/numa.hpp"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string>

#include "platform/call.hpp"

namespace roc::runtime {
namespace {

// Returns the first word of a file, or an empty string if it cannot be read.
std::string first_word_of(std::string const& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// Parses the kernel's list format: "0-3,8,10-11".
cpu_set_t parse_cpu_list(std::string const& list) {
  cpu_set_t result;
  CPU_ZERO(&result);
  char const* position = list.c_str();
  while (std::isdigit(static_cast<unsigned char>(*position)) != 0) {
    char* end = nullptr;
    unsigned long const first = std::strtoul(position, &end, 10);
    unsigned long last = first;
    if (*end == '-') last = std::strtoul(end + 1, &end, 10);
    for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) {
      CPU_SET(cpu, &result);
    }
    position = *end == ',' ? end + 1 : end;
  }
  return result;
}

}  // namespace

void bind_thread_to_device_node(int device) noexcept {
  try {
    if (first_word_of("/sys/devices/system/node/online").find_first_of(",-") == std::string::npos)
      return;
    char bus[32] = "";
    if (ROCARRAY_HIP_CODE(hipDeviceGetPCIBusId, bus, sizeof bus, device) != hipSuccess) return;
    std::string name = bus;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string const node = first_word_of("/sys/bus/pci/devices/" + name + "/numa_node");
    if (node.empty() || node[0] == '-') return;
    cpu_set_t cpus =
        parse_cpu_list(first_word_of("/sys/devices/system/node/node" + node + "/cpulist"));
    // The user may have restricted the process to some processors.
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    CPU_AND(&cpus, &cpus, &allowed);
    if (CPU_COUNT(&cpus) != 0) static_cast<void>(sched_setaffinity(0, sizeof cpus, &cpus));
  } catch (...) {
    // Without the binding copies are only slower.
  }
}

}  // namespace roc::runtime
