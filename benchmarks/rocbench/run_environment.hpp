// SPDX-License-Identifier: MIT
// The platform, device and machine of a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <roc/device.hpp>

#include "machine_facts.hpp"

namespace rocbench {

struct run_environment {
  std::string platform;  ///< amd, nvidia or host
  int ordinal = 0;
  std::string device_name;
  std::string pci_bus_id;
  bool on_gpu = true;            ///< false: the device is the CPU
  bool is_fake_runtime = false;  ///< true: the fake HIP runtime of the tests replaces AMD's runtime
  int runtime_version = 0;       ///< CUDA 13.0 is 13000, HIP 6.4.1 is 60400001
  int driver_version = 0;        ///< in the same form
  std::string host_name;
  std::string date;         ///< start of the run, ISO 8601
  std::string version;      ///< of rocbench
  std::vector<fact> facts;  ///< what does not change during the run
  std::vector<fact> state;  ///< what does
};

/// Queries the device and the operating system. On NVIDIA it starts nvidia-smi. Throws roc::error.
run_environment describe_environment(roc::device const& device);

/// Queries the state again, as the one after the run. Throws roc::error.
void record_final_state(run_environment& environment);

/// Returns the default size of a copy in bytes: large enough to saturate the device's link, at most
/// a quarter of the free device memory, a multiple of the page size.
std::size_t default_size(roc::device const& device, run_environment const& environment);

}  // namespace rocbench
