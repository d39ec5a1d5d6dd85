// SPDX-License-Identifier: MIT
// Facts about the machine that a run is measured on, and the limit of its PCIe link, from /sys,
// /proc and nvidia-smi. What is not reported is "unknown".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocbench {

/// A property of the machine, the build or the device, for tables and result files.
struct fact {
  std::string name;
  std::string value;
  std::string after = {};  ///< value after the run; empty if the property does not change
};

/// Returns the first line of a file, or an empty string if the file cannot be read.
std::string first_line(std::filesystem::path const& file);
/// Returns the rest of the first line that starts with the key, without separators and quotes.
std::string value_of_key(std::filesystem::path const& file, std::string_view key);
/// Returns the directory of a device below the root.
/// @param bus_id PCI address such as "0000:C1:00.0"
std::filesystem::path pci_directory(std::filesystem::path const& root, std::string bus_id);

/// A physical limit of a rate, and its source.
struct rate_limit {
  std::optional<double> rate;  ///< bytes per second; empty if the limit is unknown
  std::string origin;          ///< the source of the limit, or the reason why it is unknown
};

/// The speed and width that a port has now, or those that it can reach.
enum class link_state : unsigned char { current, maximum };

/// Returns the limit of the narrowest port between a device and the root complex, from
/// `current_link_speed` and `current_link_width` of each port, or `max_link_speed` and
/// `max_link_width`.
/// @param bus_id PCI address such as "0000:c1:00.0"
rate_limit pcie_limit(std::string const& bus_id, link_state state,
                      std::filesystem::path const& root = "/");

/// The properties of the host that Google Benchmark's context contains.
struct cpu_info {
  int num_cpus = 0;
  int mhz_per_cpu = 0;  ///< 0: unknown
  bool cpu_scaling_enabled = false;
  std::vector<double> load_avg;  ///< over 1, 5 and 15 minutes; empty if unknown
};

/// @param root directory that contains sys and proc
cpu_info query_cpu_info(std::filesystem::path const& root = "/");

/// Returns the CPU, the usable cores, the operating system, the compiler, the commit and the
/// library's environment variables.
std::vector<fact> host_facts(std::filesystem::path const& root = "/");

/// Returns what does not change during a run: the widest link, the NUMA node, limits of clocks and
/// power, ECC. Starts nvidia-smi if `platform` is nvidia.
/// @param bus_id PCI address of the device
std::vector<fact> device_facts(std::string const& platform, std::string const& bus_id,
                               std::filesystem::path const& root = "/");

/// Returns what changes during a run: the load and, of a GPU, clocks, power, temperature and the
/// reasons for throttling. Starts nvidia-smi if `platform` is nvidia.
std::vector<fact> machine_state(std::string const& platform, std::string const& bus_id,
                                std::filesystem::path const& root = "/");

/// Returns the names of the bits of NVIDIA's clocks_throttle_reasons.active, or "none".
/// @param mask hexadecimal, such as "0x0000000000000004"
std::string throttle_reasons(std::string const& mask);

}  // namespace rocbench
