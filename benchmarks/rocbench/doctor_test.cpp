// SPDX-License-Identifier: MIT
// The facts about a machine, and what doctor finds on it.
#include "doctor.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "machine_facts.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;

constexpr char const* bus_id = "0000:C1:00.0";

// A tree of files like /sys and /proc, with a device below a port of the PCI bus, removed at the
// end of the test.
class FakeMachine : public testing::Test {
 protected:
  FakeMachine() {
    fs::create_directories(root_ / device_);
    fs::create_directories(root_ / "sys/bus/pci/devices");
    fs::create_directory_symlink(root_ / device_, root_ / "sys/bus/pci/devices/0000:c1:00.0");
  }
  ~FakeMachine() override { fs::remove_all(root_); }

  void write(std::string const& file, std::string const& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  void write_link(std::string const& port, std::string const& state, std::string const& speed,
                  std::string const& width) {
    write(port + state + "_link_speed", speed);
    write(port + state + "_link_width", width);
  }
  rate_limit limit() const { return pcie_limit(bus_id, link_state::current, root_); }
  static std::string value(std::vector<fact> const& facts, char const* name) {
    auto const match = std::ranges::find(facts, name, &fact::name);
    return match == facts.end() ? "no such fact" : match->value;
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

  std::string const port_ = "sys/devices/pci0000:c0/0000:c0:01.0/";
  std::string const device_ = port_ + "0000:c1:00.0/";
  fs::path const root_ =
      fs::temp_directory_path() / ("rocbench_test." + std::to_string(::getpid()) + "." +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

using Doctor = FakeMachine;

TEST_F(Doctor, KnowsNothingWithoutFiles) {
  fs::path const none = root_ / "none";
  for (auto const& entries : {examine_host(none), examine_device(bus_id, "unknown", none)}) {
    for (diagnosis const& entry : entries) {
      EXPECT_EQ(entry.state, diagnosis_state::unknown) << entry.subject << ": " << entry.found;
      EXPECT_NE(entry.found, "");
    }
  }
}

TEST_F(Doctor, FindsNarrowOrSlowLink) {
  std::string const best = "PCIe 4.0 x16, 31.51 GB/s";
  for (std::string const& port : {port_, device_}) {
    write_link(port, "max", "16.0 GT/s PCIe", "16");
    write_link(port, "current", "16.0 GT/s PCIe", "16");
  }
  expect("PCIe link", best);
  write_link(device_, "current", "16.0 GT/s PCIe", "8");
  expect("PCIe link", "PCIe 4.0 x8, 15.75 GB/s", best);
  write_link(device_, "current", "8.0 GT/s PCIe", "16");
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

TEST_F(Doctor, FindsFaultsInFiles) {
  std::string const cpu = "sys/devices/system/cpu/cpu0/cpufreq/";
  std::string const pages = "sys/kernel/mm/transparent_hugepage/enabled";
  std::string const limit = "Max processes      9    9    processes\nMax locked memory  ";
  write("proc/meminfo", "MemTotal:       16777216 kB");
  write(cpu + "cpuinfo_max_freq", "3500000");
  struct {
    std::string file;
    std::string text;
    char const* subject;
    char const* found;
    char const* expected;  // empty: not wrong
  } const rows[] = {
      {device_ + "vendor", "0x1002", "IOMMU", "off", ""},
      {device_ + "iommu_group/type", "identity", "IOMMU", "passes addresses through", ""},
      {device_ + "iommu_group/type", "DMA-FQ", "IOMMU",
       "translates the device's addresses (DMA-FQ)", "pass-through (identity)"},
      {cpu + "scaling_governor", "performance", "CPU governor", "performance", ""},
      {cpu + "scaling_governor", "powersave", "CPU governor", "powersave", "performance"},
      {cpu + "scaling_max_freq", "3500000", "CPU clock limit", "3500 MHz", ""},
      {cpu + "scaling_max_freq", "1500000", "CPU clock limit", "1500 MHz", "3500 MHz"},
      {pages, "always [madvise] never", "huge pages", "madvise", ""},
      {pages, "always madvise [never]", "huge pages", "never", "madvise or always"},
      {"proc/self/limits", limit + "8388608  8388608  bytes", "locked memory", "8 MiB",
       "8 GiB or unlimited"},
      {"proc/self/limits", limit + "8589934592  8589934592  bytes", "locked memory", "8 GiB", ""},
      {"proc/self/limits", limit + "unlimited  unlimited  bytes", "locked memory", "unlimited", ""},
  };
  for (auto const& row : rows) {
    write(row.file, row.text);
    expect(row.subject, row.found, row.expected);
  }
}

TEST_F(Doctor, FindsDeviceClockHeldDown) {
  expect("device clock", "not held down");
  expect("device clock", "held down: power cap", "not held down", "power cap");
  write(device_ + "power_dpm_force_performance_level", "low");
  expect("device clock", "performance level low", "auto or high");
}

TEST_F(FakeMachine, LimitIsSpeedTimesWidthTimesEncoding) {
  write_link(device_, "current", "32.0 GT/s PCIe", "16");
  ASSERT_TRUE(limit().rate);
  EXPECT_NEAR(*limit().rate, 63.015e9, 0.001e9);
  EXPECT_EQ(limit().origin, "PCIe 5.0 x16");
  write_link(device_, "current", "5.0 GT/s PCIe", "8");
  EXPECT_NEAR(*limit().rate, 4e9, 1);
}

TEST_F(FakeMachine, LimitIsThatOfNarrowestPort) {
  write_link(device_, "current", "32.0 GT/s PCIe", "16");
  write_link(port_, "current", "16.0 GT/s PCIe", "8");
  EXPECT_NEAR(*limit().rate, 15.754e9, 0.001e9);
  EXPECT_EQ(limit().origin, "PCIe 4.0 x8");
}

TEST_F(FakeMachine, LimitIsUnknownIfNotReported) {
  EXPECT_FALSE(limit().rate);
  EXPECT_EQ(limit().origin, "sysfs does not report the link's speed");
  write_link(device_, "current", "Unknown", "0");
  EXPECT_FALSE(limit().rate);
  write_link(device_, "current", "17.0 GT/s PCIe", "16");
  EXPECT_EQ(limit().origin, "unknown PCIe generation with 17 GT/s");
  EXPECT_FALSE(pcie_limit("0000:c2:00.0", link_state::current, root_).rate);
}

TEST_F(FakeMachine, ReportsFactsOfAmdDevice) {
  write_link(device_, "current", "2.5 GT/s PCIe", "16");
  write_link(device_, "max", "32.0 GT/s PCIe", "16");
  write(device_ + "numa_node", "1");
  write(device_ + "pp_dpm_sclk", "0: 132Mhz\n1: 1200Mhz *\n2: 2100Mhz");
  write(device_ + "hwmon/hwmon3/power1_cap", "750000000");
  write(device_ + "hwmon/hwmon3/power1_input", "233100000");
  write(device_ + "hwmon/hwmon3/temp1_input", "41000");
  auto const facts = device_facts("amd", bus_id, root_);
  EXPECT_EQ(value(facts, "widest link"), "PCIe 5.0 x16");
  EXPECT_EQ(value(facts, "NUMA node of the device"), "1");
  EXPECT_EQ(value(facts, "highest clock"), "2100Mhz");
  EXPECT_EQ(value(facts, "power limit"), "750 W");
  EXPECT_EQ(value(facts, "ECC"), "unknown");
  auto const state = machine_state("amd", bus_id, root_);
  EXPECT_EQ(value(state, "clock"), "1200Mhz");
  EXPECT_EQ(value(state, "power"), "233 W");
  EXPECT_EQ(value(state, "temperature"), "41 °C");
  EXPECT_EQ(value(state, "throttling"), "unknown");
}

TEST_F(FakeMachine, ReportsHost) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU\ncpu MHz\t\t: 2500.5");
  write("proc/loadavg", "0.50 1.25 12.00 1/99 1234");
  write("proc/sys/kernel/osrelease", "6.1.0");
  write("etc/os-release", "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 1\"");
  auto const facts = host_facts(root_);
  EXPECT_EQ(value(facts, "CPU"), "Example CPU");
  EXPECT_EQ(value(facts, "CPU clock"), "2500 MHz");
  EXPECT_EQ(value(facts, "operating system"), "Example Linux 1, Linux 6.1.0");
  EXPECT_EQ(value(machine_state("host", "", root_), "load"), "0.5, 1.25, 12");
}

TEST_F(FakeMachine, UnreportedFactsAreUnknown) {
  for (auto const& facts :
       {device_facts("amd", bus_id, root_ / "none"), machine_state("amd", bus_id, root_ / "none"),
        device_facts("nvidia", "; exit 1", root_ / "none"),
        machine_state("nvidia", "; exit 1", root_ / "none")}) {
    for (fact const& entry : facts) {
      bool const is_limit = entry.name == "widest link";
      EXPECT_EQ(entry.value, is_limit ? "sysfs has no entry for the device" : "unknown")
          << entry.name;
    }
  }
}

TEST(ThrottleReasons, NamesBits) {
  EXPECT_EQ(throttle_reasons("0x0000000000000000"), "none");
  EXPECT_EQ(throttle_reasons("0x0000000000000024"), "power cap, temperature");
  EXPECT_EQ(throttle_reasons("[N/A]"), "unknown");
  EXPECT_EQ(throttle_reasons(""), "unknown");
}

}  // namespace
}  // namespace rocbench
