// SPDX-License-Identifier: MIT
// The machine that a run is measured on, from the device's attributes, /sys, /proc and nvidia-smi;
// the physical limits of its rates; and the command `doctor`. What is not reported is "unknown".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <roc/device.hpp>

#include "benchmark_case.hpp"
#include "format.hpp"

namespace rocbench {

/// The type of this build: `debug` checks assertions, `release` does not.
#ifdef NDEBUG
inline constexpr char const* build_type = "release";
#else
inline constexpr char const* build_type = "debug";
#endif

/// A property of the machine, the build or the device, for tables and result files.
struct fact {
  std::string name;
  std::string value;
  std::string after = {};  ///< value after the run; empty if the property does not change
};

/// The platform, device and machine of a run.
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

// ---- Limits ----

/// A physical limit of a rate, and its source.
struct rate_limit {
  std::optional<double> rate;  ///< bytes per second; empty if the limit is unknown
  std::string origin;          ///< the source of the limit, or the reason why it is unknown
};

/// The physical limits of a machine's rates.
struct machine_limits {
  rate_limit link;            ///< between host and device, one direction
  rate_limit device_memory;   ///< traffic
  rate_limit host_copy = {};  ///< payload of a copy in host memory; host platform only
};

/// Determines the limits from sysfs and the device's attributes; on the host platform, measures
/// copies in host memory. Blocks until the measured copies have finished. Throws roc::error.
machine_limits find_machine_limits(roc::device const& device, run_environment const& environment);

/// Returns the default size of a copy in bytes: large enough to saturate the device's link, at most
/// a quarter of the free device memory, a multiple of the page size.
std::size_t default_size(roc::device const& device, run_environment const& environment);

/// Returns the bytes of the host's physical memory.
std::uint64_t host_memory();

/// Calls `f` while copies keep the link busy: idle links slow down. Blocks until the copies are
/// done. Throws roc::error.
void with_busy_link(std::function<void()> const& f);

// ---- Facts from files; `root` contains sys and proc, `bus_id` is a PCI address such as
// "0000:C1:00.0" ----

/// Returns the first line of a file, or an empty string if the file cannot be read.
std::string first_line(std::filesystem::path const& file);
/// Returns the rest of the first line that starts with the key, without separators and quotes.
std::string value_of_key(std::filesystem::path const& file, std::string_view key);
/// Returns the directory of a device below the root.
std::filesystem::path pci_directory(std::filesystem::path const& root, std::string bus_id);

/// The speed and width that a port has now, or those that it can reach.
enum class link_state : unsigned char { current, maximum };

/// Returns the limit of the narrowest port between a device and the root complex, from
/// `current_link_speed` and `current_link_width` of each port, or `max_link_speed` and
/// `max_link_width`.
rate_limit pcie_limit(std::string const& bus_id, link_state state,
                      std::filesystem::path const& root = "/");

/// The properties of the host that Google Benchmark's context contains.
struct cpu_info {
  int num_cpus = 0;
  int mhz_per_cpu = 0;  ///< 0: unknown
  bool cpu_scaling_enabled = false;
  std::vector<double> load_avg;  ///< over 1, 5 and 15 minutes; empty if unknown
};

cpu_info query_cpu_info(std::filesystem::path const& root = "/");

/// Returns the CPU, the usable cores, the operating system, the compiler, the commit and the
/// library's environment variables.
std::vector<fact> host_facts(std::filesystem::path const& root = "/");

/// Returns what does not change during a run: the widest link, the NUMA node, limits of clocks and
/// power, ECC. Starts nvidia-smi if `platform` is nvidia.
std::vector<fact> device_facts(std::string const& platform, std::string const& bus_id,
                               std::filesystem::path const& root = "/");

/// Returns what changes during a run: the load and, of a GPU, clocks, power, temperature and the
/// reasons for throttling. Starts nvidia-smi if `platform` is nvidia.
std::vector<fact> machine_state(std::string const& platform, std::string const& bus_id,
                                std::filesystem::path const& root = "/");

/// Returns the sizes that cases of the same name and number of bytes may differ in.
std::vector<fact> parameter_facts(case_parameters const& parameters);

/// Returns the names of the bits of NVIDIA's clocks_throttle_reasons.active, or "none".
/// @param mask hexadecimal, such as "0x0000000000000004"
std::string throttle_reasons(std::string const& mask);

// ---- doctor: what slows copies down on this machine, and how to mend it ----

enum class diagnosis_state : unsigned char {
  ok,
  wrong,
  unknown,  ///< the machine does not report the value
};

struct verdict {
  diagnosis_state state;
  std::string found;          ///< the value, or why it is unknown
  std::string expected = {};  ///< what the value should be; empty if it is not wrong
  std::string remedy = {};    ///< how to mend it; empty if it is not wrong
};

/// One line of the report.
struct diagnosis : verdict {
  std::string subject;
};

/// Examines the files of /sys and /proc that concern host memory and the CPU.
std::vector<diagnosis> examine_host(std::filesystem::path const& root = "/");

/// Examines the files of /sys and /proc that concern a PCI device. Its link must be busy, because
/// idle links slow down.
/// @param throttling why the driver holds the clocks down, as throttle_reasons() returns it; may be
///   empty
std::vector<diagnosis> examine_device(std::string const& bus_id, std::string const& throttling,
                                      std::filesystem::path const& root = "/");

/// Prints what examine_host() and, on a GPU, examine_device() find. Returns `regression` if
/// anything is wrong. Precondition: `device` is current. Throws roc::error.
exit_code doctor(roc::device const& device);

}  // namespace rocbench
