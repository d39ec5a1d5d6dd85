// SPDX-License-Identifier: MIT
// What Google Benchmark's context tells of the machine.
#pragma once

#include <string>
#include <vector>

namespace rocbench {

struct cpu_cache {
  std::string type;  ///< Data, Instruction, Unified
  int level = 0;
  long size = 0;  ///< bytes
  int num_sharing = 0;
};

struct host_facts {
  int num_cpus = 0;
  int mhz_per_cpu = 0;  ///< 0: not told
  bool cpu_scaling_enabled = false;
  std::vector<cpu_cache> caches;  ///< of the first CPU
  std::vector<double> load_avg;
};

host_facts find_host_facts();

}  // namespace rocbench
