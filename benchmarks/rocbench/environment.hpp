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
  bool on_gpu = true;      ///< false: a CPU plays the device
  bool is_double = false;  ///< AMD's runtime played by the CPU double of the tests
};

/// Asks the device. Throws roc::error.
environment describe(roc::device const& device);

/// Bytes of a copy that suit the device: long enough for its link, at most a quarter of the memory
/// that is free, whole pages.
std::size_t default_size(roc::device const& device, environment const& where);

}  // namespace rocbench
