// SPDX-License-Identifier: MIT
#include "runtime/numa.hpp"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

#include "platform/call.hpp"

namespace roc::runtime {
namespace {

std::string line_of(std::string const& path) {
  std::string line;
  std::ifstream(path) >> line;
  return line;
}

// "0-3,8,10-11"
cpu_set_t parse(std::string const& list) {
  cpu_set_t result;
  CPU_ZERO(&result);
  char const* at = list.c_str();
  while (std::isdigit(static_cast<unsigned char>(*at)) != 0) {
    char* end = nullptr;
    unsigned long const first = std::strtoul(at, &end, 10);
    unsigned long last = first;
    if (*end == '-') last = std::strtoul(end + 1, &end, 10);
    for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) {
      CPU_SET(cpu, &result);
    }
    at = *end == ',' ? end + 1 : end;
  }
  return result;
}

}  // namespace

void bind_thread_to_device_node(int device) noexcept {
  try {
    if (line_of("/sys/devices/system/node/online").find_first_of(",-") == std::string::npos) return;
    char bus[32] = "";
    if (ROCARRAY_HIP_CODE(hipDeviceGetPCIBusId, bus, sizeof bus, device) != hipSuccess) return;
    std::string name = bus;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::string const node = line_of("/sys/bus/pci/devices/" + name + "/numa_node");
    if (node.empty() || node[0] == '-') return;
    cpu_set_t near = parse(line_of("/sys/devices/system/node/node" + node + "/cpulist"));
    // Within what the process was given.
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    CPU_AND(&near, &near, &allowed);
    if (CPU_COUNT(&near) != 0) static_cast<void>(sched_setaffinity(0, sizeof near, &near));
  } catch (...) {
    // Only speed is lost.
  }
}

}  // namespace roc::runtime
