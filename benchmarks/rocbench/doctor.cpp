// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include <fmt/format.h>

#include "format.hpp"
#include "machine.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;

verdict not_known(std::string const& reason) { return {diagnosis_state::unknown, reason}; }
verdict right(std::string const& found) { return {diagnosis_state::ok, found}; }
verdict judge(bool is_right, std::string const& found, std::string const& expected,
              std::string const& remedy) {
  return is_right ? right(found) : verdict{diagnosis_state::wrong, found, expected, remedy};
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

verdict examine_link(fs::path const& root, std::string const& bus_id) {
  rate_limit const current = pcie_limit(bus_id, link_state::current, root);
  rate_limit const possible = pcie_limit(bus_id, link_state::maximum, root);
  if (!current.rate) return not_known(current.origin);
  auto const describe = [](rate_limit const& link) {
    return fmt::format("{}, {} GB/s", link.origin, format_rate(*link.rate));
  };
  if (!possible.rate) return not_known(describe(current) + "; the most it can be is unknown");
  return judge(*current.rate >= *possible.rate, describe(current), describe(possible),
               "reseat the card; check risers, and the slot's speed in the firmware");
}

verdict examine_numa_node(fs::path const& root, fs::path const& device) {
  std::string const node = first_line(device / "numa_node");
  if (node.empty() || node.starts_with('-'))
    return not_known("the firmware does not say which node the device is at");
  auto const near =
      numbers_of_list(first_line(root / "sys/devices/system/node" / ("node" + node) / "cpulist"));
  std::string const list = value_of_key(root / "proc/self/status", "Cpus_allowed_list");
  auto const allowed = numbers_of_list(list);
  if (near.empty() || allowed.empty()) return not_known("the CPUs of the node are unknown");
  auto const is_near = [&](std::uint64_t cpu) { return near.contains(cpu); };
  if (std::ranges::any_of(allowed, is_near)) {
    bool const all = std::ranges::all_of(allowed, is_near);
    return right(fmt::format("the device is at node {}; this process may run {}", node,
                             all ? "only there" : "there and elsewhere"));
  }
  return judge(false, fmt::format("this process runs on CPUs {}", list),
               fmt::format("CPUs of node {}, where the device is", node),
               fmt::format("numactl --cpunodebind={0} --membind={0} rocbench", node));
}

verdict examine_iommu(fs::path const& root, fs::path const& device) {
  std::error_code error;
  if (!fs::exists(device, error)) return not_known("sysfs has no entry for the device");
  if (!fs::exists(device / "iommu_group", error)) {
    bool const has_iommu = !fs::is_empty(root / "sys/class/iommu", error) && !error;
    return right(has_iommu ? "not used for the device" : "off");
  }
  std::string const type = first_line(device / "iommu_group/type");
  if (type.empty()) return not_known("the mode of the device's group is not reported");
  if (type == "identity") return right("passes addresses through");
  return judge(false, fmt::format("translates the device's addresses ({})", type),
               "pass-through (identity)", "start the kernel with iommu=pt");
}

verdict examine_device_clock(fs::path const& device, std::string const& throttling) {
  std::string const level = first_line(device / "power_dpm_force_performance_level");
  bool const is_free = level.empty() || level == "auto" || level == "high";
  bool const has_reasons = !throttling.empty() && throttling != "unknown";
  if (!is_free || (!level.empty() && !has_reasons)) {
    return judge(is_free, fmt::format("performance level {}", level), "auto or high",
                 "rocm-smi --setperflevel auto");
  }
  if (!has_reasons) return not_known("the driver does not say whether it is held down");
  if (throttling == "none" || throttling == "idle") return right("not held down");
  return judge(false, fmt::format("held down: {}", throttling), "not held down",
               "check cooling and power; reset limits: nvidia-smi -rgc, -rac");
}

verdict examine_governor(fs::path const& root) {
  std::string const governor =
      first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) return not_known("not reported, as in most virtual machines");
  return judge(governor == "performance", governor, "performance",
               "cpupower frequency-set --governor performance");
}

verdict examine_cpu_clock(fs::path const& root) {
  fs::path const directory = root / "sys/devices/system/cpu/cpu0/cpufreq";
  auto const limit = number_at_start(first_line(directory / "scaling_max_freq"));
  auto const possible = number_at_start(first_line(directory / "cpuinfo_max_freq"));
  if (!limit || !possible) return not_known("not reported, as in most virtual machines");
  return judge(*limit >= *possible, fmt::format("{} MHz", *limit / 1000),
               fmt::format("{} MHz", *possible / 1000),
               fmt::format("cpupower frequency-set --max {}kHz", *possible));
}

verdict examine_huge_pages(fs::path const& root) {
  std::string const choices = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  std::size_t const begin = choices.find('[');
  std::size_t const end = choices.find(']', begin);
  if (end == std::string::npos) return not_known("the kernel does not report them");
  std::string const choice = choices.substr(begin + 1, end - begin - 1);
  return judge(choice != "never", choice, "madvise or always",
               "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

// The driver may count pinned memory; half of the memory is the most that a program should pin.
verdict examine_locked_memory(fs::path const& root) {
  std::string const limit = value_of_key(root / "proc/self/limits", "Max locked memory");
  if (limit.starts_with("unlimited")) return right("unlimited");
  auto const bytes = number_at_start(limit);
  auto const memory_kib = number_at_start(value_of_key(root / "proc/meminfo", "MemTotal"));
  if (!bytes || !memory_kib) return not_known("the limit is not reported");
  std::uint64_t const needed = *memory_kib * 1024 / 2;
  return judge(*bytes >= needed, format_size(*bytes), format_size(needed) + " or unlimited",
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
  return {{examine_governor(root), "CPU governor"},
          {examine_cpu_clock(root), "CPU clock limit"},
          {examine_huge_pages(root), "huge pages"},
          {examine_locked_memory(root), "locked memory"}};
}

std::vector<diagnosis> examine_device(std::string const& bus_id, std::string const& throttling,
                                      fs::path const& root) {
  fs::path const device = pci_directory(root, bus_id);
  return {{examine_link(root, bus_id), "PCIe link"},
          {examine_numa_node(root, device), "NUMA node"},
          {examine_iommu(root, device), "IOMMU"},
          {examine_device_clock(device, throttling), "device clock"}};
}

exit_code doctor(roc::device const& device) {
  run_environment const environment = describe_environment(device);
  std::vector<diagnosis> entries;
  if (environment.on_gpu) {
    auto const throttling = std::ranges::find(environment.state, "throttling", &fact::name);
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
