// SPDX-License-Identifier: MIT
// The physical limits of a machine: what no copy can be faster than, and how one knows.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <roc/device.hpp>

#include "cases.hpp"
#include "environment.hpp"

namespace rocbench {

/// Without a rate it is unknown, and the text says why.
struct limit {
  std::optional<double> rate;  ///< bytes a second
  std::string origin;
};

struct limits {
  limit link;           ///< host to device, one way
  limit device_memory;  ///< traffic
  limit host_copy;      ///< payload of a copy in host memory; of the host platform only
};

/// Looks at the system's files, at the device's attributes, and on the host platform at the memory
/// itself. The link is read while it is busy, as idle links slow down. Throws roc::error.
limits find_limits(roc::device const& device, environment const& where);

/// The one for a case.
limit limit_of(benchmark_case const& of, limits const& known);

/// Of a device's link, as the narrowest of the ports between it and the root: speed and width from
/// `current_link_speed` and `current_link_width` below `devices` (/sys/bus/pci/devices).
limit pcie_limit(std::string const& bus_id, std::filesystem::path const& devices);

}  // namespace rocbench
