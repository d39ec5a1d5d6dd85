// SPDX-License-Identifier: MIT
#include "doctor.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "format.hpp"
#include "machine.hpp"
#include "machine_facts.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;

diagnosis unknown(char const* subject, std::string const& reason) {
  return {diagnosis_state::unknown, subject, reason, "", ""};
}
diagnosis judge(char const* subject, bool is_right, std::string const& found,
                std::string const& expected = "", std::string const& remedy = "") {
  if (is_right) return {diagnosis_state::ok, subject, found, "", ""};
  return {diagnosis_state::wrong, subject, found, expected, remedy};
}

std::optional<std::uint64_t> number_at_start(std::string const& text) {
  std::uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return {};
  return value;
}

// Returns the numbers of a list such as "0-3,8"; empty if the text is no list.
std::set<std::uint64_t> numbers_of_list(std::string const& text) {
  std::set<std::uint64_t> result;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    auto const first = number_at_start(range);
    std::size_t const dash = range.find('-');
    auto const last = dash == std::string::npos ? first : number_at_start(range.substr(dash + 1));
    if (!first || !last || *last - *first > 1u << 20) return {};
    for (std::uint64_t i = *first; i <= *last; ++i) result.insert(i);
  }
  return result;
}

diagnosis examine_link(fs::path const& root, std::string const& bus_id) {
  constexpr char const* subject = "PCIe link";
  rate_limit const current = pcie_limit(bus_id, link_state::current, root);
  rate_limit const possible = pcie_limit(bus_id, link_state::maximum, root);
  if (!current.rate) return unknown(subject, current.origin);
  auto const describe = [](rate_limit const& link) {
    return fmt::format("{}, {} GB/s", link.origin, format_rate(*link.rate));
  };
  if (!possible.rate)
    return unknown(subject, describe(current) + "; the most it can be is unknown");
  return judge(subject, *current.rate >= *possible.rate, describe(current), describe(possible),
               "reseat the card; check risers, and the slot's speed in the firmware");
}

diagnosis examine_numa_node(fs::path const& root, fs::path const& device) {
  constexpr char const* subject = "NUMA node";
  std::string const node = first_line(device / "numa_node");
  if (node.empty() || node.starts_with('-'))
    return unknown(subject, "the firmware does not say which node the device is at");
  auto const near =
      numbers_of_list(first_line(root / "sys/devices/system/node" / ("node" + node) / "cpulist"));
  std::string const list = value_of_key(root / "proc/self/status", "Cpus_allowed_list");
  auto const allowed = numbers_of_list(list);
  if (near.empty() || allowed.empty()) return unknown(subject, "the CPUs of the node are unknown");
  auto const is_near = [&](std::uint64_t cpu) { return near.contains(cpu); };
  if (std::ranges::any_of(allowed, is_near)) {
    bool const all = std::ranges::all_of(allowed, is_near);
    return judge(subject, true,
                 fmt::format("the device is at node {}; this process may run {}", node,
                             all ? "only there" : "there and elsewhere"));
  }
  return judge(subject, false, fmt::format("this process runs on CPUs {}", list),
               fmt::format("CPUs of node {}, where the device is", node),
               fmt::format("numactl --cpunodebind={0} --membind={0} rocbench", node));
}

diagnosis examine_iommu(fs::path const& root, fs::path const& device) {
  constexpr char const* subject = "IOMMU";
  std::error_code error;
  if (!fs::exists(device, error)) return unknown(subject, "sysfs has no entry for the device");
  if (!fs::exists(device / "iommu_group", error)) {
    bool const has_iommu = !fs::is_empty(root / "sys/class/iommu", error) && !error;
    return judge(subject, true, has_iommu ? "not used for the device" : "off");
  }
  std::string const type = first_line(device / "iommu_group/type");
  if (type.empty()) return unknown(subject, "the mode of the device's group is not reported");
  if (type == "identity") return judge(subject, true, "passes addresses through");
  return judge(subject, false, fmt::format("translates the device's addresses ({})", type),
               "pass-through (identity)", "start the kernel with iommu=pt");
}

diagnosis examine_device_clock(fs::path const& device, std::string const& throttling) {
  constexpr char const* subject = "device clock";
  std::string const level = first_line(device / "power_dpm_force_performance_level");
  bool const is_free = level.empty() || level == "auto" || level == "high";
  if (!is_free || (!level.empty() && (throttling == "unknown" || throttling.empty()))) {
    return judge(subject, is_free, fmt::format("performance level {}", level), "auto or high",
                 "rocm-smi --setperflevel auto");
  }
  if (throttling == "unknown" || throttling.empty())
    return unknown(subject, "the driver does not say whether it is held down");
  if (throttling == "none" || throttling == "idle") return judge(subject, true, "not held down");
  return judge(subject, false, fmt::format("held down: {}", throttling), "not held down",
               "check cooling and power; reset limits: nvidia-smi -rgc, -rac");
}

diagnosis examine_governor(fs::path const& root) {
  constexpr char const* subject = "CPU governor";
  std::string const governor =
      first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) return unknown(subject, "not reported, as in most virtual machines");
  return judge(subject, governor == "performance", governor, "performance",
               "cpupower frequency-set --governor performance");
}

diagnosis examine_cpu_clock(fs::path const& root) {
  constexpr char const* subject = "CPU clock limit";
  fs::path const directory = root / "sys/devices/system/cpu/cpu0/cpufreq";
  auto const limit = number_at_start(first_line(directory / "scaling_max_freq"));
  auto const possible = number_at_start(first_line(directory / "cpuinfo_max_freq"));
  if (!limit || !possible) return unknown(subject, "not reported, as in most virtual machines");
  return judge(subject, *limit >= *possible, fmt::format("{} MHz", *limit / 1000),
               fmt::format("{} MHz", *possible / 1000),
               fmt::format("cpupower frequency-set --max {}kHz", *possible));
}

diagnosis examine_huge_pages(fs::path const& root) {
  constexpr char const* subject = "huge pages";
  std::string const choices = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  std::size_t const begin = choices.find('[');
  std::size_t const end = choices.find(']', begin);
  if (end == std::string::npos) return unknown(subject, "the kernel does not report them");
  std::string const choice = choices.substr(begin + 1, end - begin - 1);
  return judge(subject, choice != "never", choice, "madvise or always",
               "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

// The driver may count pinned memory; half of the memory is the most that a program should pin.
diagnosis examine_locked_memory(fs::path const& root) {
  constexpr char const* subject = "locked memory";
  std::string const limit = value_of_key(root / "proc/self/limits", "Max locked memory");
  if (limit.starts_with("unlimited")) return judge(subject, true, "unlimited");
  auto const bytes = number_at_start(limit);
  auto const memory_kib = number_at_start(value_of_key(root / "proc/meminfo", "MemTotal"));
  if (!bytes || !memory_kib) return unknown(subject, "the limit is not reported");
  std::uint64_t const needed = *memory_kib * 1024 / 2;
  return judge(subject, *bytes >= needed, format_size(*bytes),
               format_size(needed) + " or unlimited",
               "ulimit -l unlimited, after \"memlock unlimited\" in limits.conf");
}

void print(diagnosis const& entry) {
  constexpr char const* labels[] = {"ok", "WRONG", "unknown"};
  char const* const label = labels[static_cast<unsigned char>(entry.state)];
  fmt::print("{:<8} {:<16} {}\n", label, entry.subject, entry.found);
  if (entry.state != diagnosis_state::wrong) return;
  fmt::print("         should be: {}\n         to mend: {}\n", entry.expected, entry.remedy);
}

}  // namespace

std::vector<diagnosis> examine_host(fs::path const& root) {
  return {examine_governor(root), examine_cpu_clock(root), examine_huge_pages(root),
          examine_locked_memory(root)};
}

std::vector<diagnosis> examine_device(std::string const& bus_id, std::string const& throttling,
                                      fs::path const& root) {
  fs::path const device = pci_directory(root, bus_id);
  return {examine_link(root, bus_id), examine_numa_node(root, device), examine_iommu(root, device),
          examine_device_clock(device, throttling)};
}

exit_code doctor(roc::device const& device) {
  run_environment const environment = describe_environment(device);
  std::vector<diagnosis> entries;
  if (environment.on_gpu) {
    auto const throttling =
        std::ranges::find(environment.state, std::string("throttling"), &fact::name);
    std::string const reasons = throttling == environment.state.end() ? "" : throttling->value;
    with_busy_link([&] { entries = examine_device(environment.pci_bus_id, reasons); });
  }
  for (diagnosis const& entry : examine_host()) entries.push_back(entry);
  fmt::print("{}\n",
             environment.on_gpu
                 ? fmt::format("Device {}: {} ({})", environment.ordinal, environment.device_name,
                               environment.pci_bus_id)
                 : "The device is the CPU: it has no link, node, IOMMU or clock of its own.");
  for (diagnosis const& entry : entries) print(entry);
  std::fflush(stdout);
  auto const faults = std::ranges::count(entries, diagnosis_state::wrong, &diagnosis::state);
  return faults == 0 ? exit_code::ok : exit_code::regression;
}

}  // namespace rocbench
