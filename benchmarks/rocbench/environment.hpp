// SPDX-License-Identifier: MIT
// Where figures were taken: the platform and the device.
#pragma once

#include <cstddef>
#include <string>

#include <roc/device.hpp>

namespace rocbench {

struct environment {
  std::string platform;  ///< amd, nvidia or host
  int ordinal = 0;
  std::string device_name;
  std::string pci_bus_id;
  bool on_gpu = true;       ///< false: a CPU plays the device
  bool is_fake_runtime = false;   ///< AMD's runtime played by the CPU double of the tests
  int runtime_version = 0;  ///< as the platform counts: CUDA 13.0 is 13000, HIP 6.4.1 is 60400001
  int driver_version = 0;
  std::string host_name;
  std::string date;     ///< of the beginning, ISO 8601
  std::string version;  ///< rocbench's
};

/// Asks the device and the system. Throws roc::error.
environment describe(roc::device const& device);

/// Bytes of a copy that suit the device: long enough for its link, at most a quarter of the memory
/// that is free, whole pages.
std::size_t default_size(roc::device const& device, environment const& where);

}  // namespace rocbench
