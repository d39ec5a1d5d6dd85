// SPDX-License-Identifier: MIT
// The host's properties that Google Benchmark's context contains.
#pragma once

#include <string>
#include <vector>

namespace rocbench {

struct cpu_cache {
  std::string type;  ///< Data, Instruction or Unified
  int level = 0;
  long size = 0;  ///< bytes
  int num_sharing = 0;
};

struct host_info {
  int num_cpus = 0;
  int mhz_per_cpu = 0;  ///< 0: unknown
  bool cpu_scaling_enabled = false;
  std::vector<cpu_cache> caches;  ///< of the first CPU
  std::vector<double> load_avg;   ///< over 1, 5 and 15 minutes; empty if unknown
};

/// Reads /sys and /proc. Missing files leave the defaults.
host_info query_host_info();

}  // namespace rocbench
