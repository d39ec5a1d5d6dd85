// SPDX-License-Identifier: MIT
#include "doctor.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace rocbench {
namespace {

namespace fs = std::filesystem;

constexpr char const* bus_id = "0000:C1:00.0";

// A tree of files like /sys and /proc, removed at the end of the test.
class Doctor : public testing::Test {
 protected:
  Doctor() { fs::create_directories(root_); }
  ~Doctor() override { fs::remove_all(root_); }

  void write(std::string const& file, std::string const& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  // Writes the ports of a link: a device with a switch above it.
  void write_link(std::string const& current_width, std::string const& current_speed) {
    fs::path const device = "sys/devices/pci0000:c0/0000:c0:01.0/0000:c1:00.0";
    for (fs::path const& port : {device.parent_path(), device}) {
      write(port / "max_link_speed", "16.0 GT/s PCIe");
      write(port / "max_link_width", "16");
      write(port / "current_link_speed", current_speed);
      write(port / "current_link_width", current_width);
    }
    fs::create_directories(root_ / "sys/bus/pci/devices");
    std::error_code exists_already;
    fs::create_directory_symlink(root_ / device, root_ / device_.substr(0, device_.size() - 1),
                                 exists_already);
  }
  // Returns what is found about a subject.
  diagnosis of(std::string const& subject, std::string const& throttling = "none") {
    for (auto const& entries : {examine_host(root_), examine_device(bus_id, throttling, root_)}) {
      for (diagnosis const& entry : entries) {
        if (entry.subject == subject) return entry;
      }
    }
    throw std::runtime_error("nothing is said about " + subject);
  }
  // Expects what is found, and what should be if it is wrong.
  void expect(std::string const& subject, std::string const& found,
              std::string const& should_be = "", std::string const& throttling = "none") {
    diagnosis const entry = of(subject, throttling);
    EXPECT_EQ(entry.state, should_be.empty() ? diagnosis_state::ok : diagnosis_state::wrong);
    EXPECT_EQ(entry.found, found);
    EXPECT_EQ(entry.expected, should_be);
    EXPECT_EQ(entry.remedy.empty(), should_be.empty());
    EXPECT_LE(entry.remedy.size(), 71u) << "the line is wider than 80 columns: " << entry.remedy;
  }

  std::string const device_ = "sys/bus/pci/devices/0000:c1:00.0/";
  fs::path const root_ =
      fs::temp_directory_path() / ("doctor_test." + std::to_string(::getpid()) + "." +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Doctor, KnowsNothingWithoutFiles) {
  for (auto const& entries : {examine_host(root_), examine_device(bus_id, "unknown", root_)}) {
    for (diagnosis const& entry : entries) {
      EXPECT_EQ(entry.state, diagnosis_state::unknown) << entry.subject << ": " << entry.found;
      EXPECT_NE(entry.found, "");
    }
  }
}

TEST_F(Doctor, FindsNarrowOrSlowLink) {
  std::string const best = "PCIe 4.0 x16, 31.51 GB/s";
  write_link("16", "16.0 GT/s PCIe");
  expect("PCIe link", best);
  write_link("8", "16.0 GT/s PCIe");
  expect("PCIe link", "PCIe 4.0 x8, 15.75 GB/s", best);
  write_link("16", "8.0 GT/s PCIe");
  expect("PCIe link", "PCIe 3.0 x16, 15.75 GB/s", best);
}

TEST_F(Doctor, FindsWrongNumaNode) {
  write("sys/devices/system/node/node1/cpulist", "4-7,12-15");
  auto const allow_cpus = [&](std::string const& list) {
    write("proc/self/status", "Name:\trocbench\nCpus_allowed_list:\t" + list);
  };
  write(device_ + "numa_node", "1");
  allow_cpus("0-3,8-11");
  expect("NUMA node", "this process runs on CPUs 0-3,8-11", "CPUs of node 1, where the device is");
  EXPECT_EQ(of("NUMA node").remedy, "numactl --cpunodebind=1 --membind=1 rocbench");
  allow_cpus("5");
  expect("NUMA node", "the device is at node 1; this process may run only there");
  allow_cpus("0-15");
  expect("NUMA node", "the device is at node 1; this process may run there and elsewhere");
  write(device_ + "numa_node", "-1");
  EXPECT_EQ(of("NUMA node").state, diagnosis_state::unknown);
}

TEST_F(Doctor, FindsIommuThatTranslates) {
  write(device_ + "vendor", "0x1002");
  expect("IOMMU", "off");
  write(device_ + "iommu_group/type", "identity");
  expect("IOMMU", "passes addresses through");
  write(device_ + "iommu_group/type", "DMA-FQ");
  expect("IOMMU", "translates the device's addresses (DMA-FQ)", "pass-through (identity)");
}

TEST_F(Doctor, FindsDeviceClockHeldDown) {
  expect("device clock", "not held down");
  expect("device clock", "held down: power cap", "not held down", "power cap");
  write(device_ + "power_dpm_force_performance_level", "low");
  expect("device clock", "performance level low", "auto or high");
}

TEST_F(Doctor, FindsCpuClocksHeldDown) {
  std::string const directory = "sys/devices/system/cpu/cpu0/cpufreq/";
  write(directory + "cpuinfo_max_freq", "3500000");
  write(directory + "scaling_max_freq", "3500000");
  write(directory + "scaling_governor", "performance");
  expect("CPU governor", "performance");
  expect("CPU clock limit", "3500 MHz");
  write(directory + "scaling_max_freq", "1500000");
  write(directory + "scaling_governor", "powersave");
  expect("CPU governor", "powersave", "performance");
  expect("CPU clock limit", "1500 MHz", "3500 MHz");
}

TEST_F(Doctor, FindsHugePagesOff) {
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  expect("huge pages", "madvise");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  expect("huge pages", "never", "madvise or always");
}

TEST_F(Doctor, FindsSmallLimitOfLockedMemory) {
  auto const set_limit = [&](std::string const& limit) {
    write("proc/self/limits",
          "Max processes             100        100        processes\n"
          "Max locked memory         " +
              limit + "    " + limit + "    bytes");
  };
  write("proc/meminfo", "MemTotal:       16777216 kB");
  set_limit("8388608");
  expect("locked memory", "8 MiB", "8 GiB or unlimited");
  set_limit("8589934592");
  expect("locked memory", "8 GiB");
  set_limit("unlimited");
  expect("locked memory", "unlimited");
}

}  // namespace
}  // namespace rocbench
