// SPDX-License-Identifier: MIT
// The rate limit of a PCIe link, from sysfs.
#pragma once

#include <filesystem>
#include <string>

#include "rate_limit.hpp"

namespace rocbench {

/// The speed and width that a port has now, or those that it can reach.
enum class link_state : unsigned char { current, maximum };

/// Returns the limit of the narrowest port between a device and the root complex, from
/// `current_link_speed` and `current_link_width` of each port, or `max_link_speed` and
/// `max_link_width`.
/// @param bus_id PCI address such as "0000:c1:00.0"
/// @param devices directory of the devices, normally /sys/bus/pci/devices
rate_limit pcie_limit(std::string const& bus_id, std::filesystem::path const& devices,
                      link_state state = link_state::current);

}  // namespace rocbench
