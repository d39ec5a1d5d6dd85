// SPDX-License-Identifier: MIT
// The facts about a machine, and what doctor finds on it.

#include "machine.hpp"

#include <algorithm>
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

using file_texts = std::vector<std::pair<std::string, std::string>>;

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

  void write(file_texts const& files) {
    for (auto const& [file, text] : files) {
      fs::create_directories((root_ / file).parent_path());
      std::ofstream(root_ / file) << text << '\n';
    }
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
  // Expects facts with these names and values.
  static void expect_facts(std::vector<fact> const& facts, file_texts const& expected) {
    for (auto const& [name, value] : expected) {
      auto const match = std::ranges::find(facts, name, &fact::name);
      ASSERT_NE(match, facts.end()) << name;
      EXPECT_EQ(match->value, value) << name;
    }
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

TEST_F(Doctor, FindsFaultsInFiles) {
  std::string const cpu = "sys/devices/system/cpu/cpu0/cpufreq/";
  std::string const pages = "sys/kernel/mm/transparent_hugepage/enabled";
  std::string const limit = "Max processes      9    9    processes\nMax locked memory  ";
  std::string const status = "proc/self/status";
  std::string const cpus = "Name:\trocbench\nCpus_allowed_list:\t";
  std::string const speed = device_ + "current_link_speed";
  std::string const width = device_ + "current_link_width";
  std::string const best = "PCIe 4.0 x16, 31.51 GB/s";
  write({{"proc/meminfo", "MemTotal:       16777216 kB"},
         {cpu + "cpuinfo_max_freq", "3500000"},
         {"sys/devices/system/node/node1/cpulist", "4-7,12-15"},
         {device_ + "numa_node", "1"},
         {device_ + "vendor", "0x1002"},
         {port_ + "max_link_speed", "16.0 GT/s PCIe"},
         {port_ + "max_link_width", "16"},
         {port_ + "current_link_speed", "16.0 GT/s PCIe"},
         {port_ + "current_link_width", "16"},
         {device_ + "max_link_speed", "16.0 GT/s PCIe"},
         {device_ + "max_link_width", "16"}});
  struct {
    file_texts files;
    char const* subject;
    std::string found;
    std::string expected = "";  // empty: not wrong
    std::string throttling = "none";
  } const rows[] = {
      {{{speed, "16.0 GT/s PCIe"}, {width, "16"}}, "PCIe link", best},
      {{{width, "8"}}, "PCIe link", "PCIe 4.0 x8, 15.75 GB/s", best},
      {{{speed, "8.0 GT/s PCIe"}, {width, "16"}}, "PCIe link", "PCIe 3.0 x16, 15.75 GB/s", best},
      {{{status, cpus + "0-3,8-11"}},
       "NUMA node",
       "this process runs on CPUs 0-3,8-11",
       "CPUs of node 1, where the device is"},
      {{{status, cpus + "5"}},
       "NUMA node",
       "the device is at node 1; this process may run only there"},
      {{{status, cpus + "0-15"}},
       "NUMA node",
       "the device is at node 1; this process may run there and elsewhere"},
      {{}, "IOMMU", "off"},
      {{{device_ + "iommu_group/type", "identity"}}, "IOMMU", "passes addresses through"},
      {{{device_ + "iommu_group/type", "DMA-FQ"}},
       "IOMMU",
       "translates the device's addresses (DMA-FQ)",
       "pass-through (identity)"},
      {{}, "device clock", "not held down"},
      {{}, "device clock", "held down: power cap", "not held down", "power cap"},
      {{{device_ + "power_dpm_force_performance_level", "low"}},
       "device clock",
       "performance level low",
       "auto or high"},
      {{{cpu + "scaling_governor", "performance"}}, "CPU governor", "performance"},
      {{{cpu + "scaling_governor", "powersave"}}, "CPU governor", "powersave", "performance"},
      {{{cpu + "scaling_max_freq", "3500000"}}, "CPU clock limit", "3500 MHz"},
      {{{cpu + "scaling_max_freq", "1500000"}}, "CPU clock limit", "1500 MHz", "3500 MHz"},
      {{{pages, "always [madvise] never"}}, "huge pages", "madvise"},
      {{{pages, "always madvise [never]"}}, "huge pages", "never", "madvise or always"},
      {{{"proc/self/limits", limit + "8388608  8388608  bytes"}},
       "locked memory",
       "8 MiB",
       "8 GiB or unlimited"},
      {{{"proc/self/limits", limit + "8589934592  8589934592  bytes"}}, "locked memory", "8 GiB"},
      {{{"proc/self/limits", limit + "unlimited  unlimited  bytes"}}, "locked memory", "unlimited"},
  };
  for (auto const& row : rows) {
    write(row.files);
    diagnosis const entry = of(row.subject, row.throttling);
    bool const is_right = row.expected.empty();
    EXPECT_EQ(entry.state, is_right ? diagnosis_state::ok : diagnosis_state::wrong);
    EXPECT_EQ(entry.found, row.found);
    EXPECT_EQ(entry.expected, row.expected);
    EXPECT_EQ(entry.remedy.empty(), is_right);
    EXPECT_LE(entry.remedy.size(), 71u) << "the line is wider than 80 columns: " << entry.remedy;
  }
  write({{status, cpus + "0"}});
  EXPECT_EQ(of("NUMA node").remedy, "numactl --cpunodebind=1 --membind=1 rocbench");
  write({{device_ + "numa_node", "-1"}});
  EXPECT_EQ(of("NUMA node").state, diagnosis_state::unknown);
}

// The limit is speed times width times encoding of the narrowest port.
TEST_F(FakeMachine, LimitIsThatOfNarrowestPortOrUnknown) {
  struct {
    std::string port;
    char const* speed;
    char const* width;
    double expected;  // 0: unknown
    char const* origin;
  } const rows[] = {
      {device_, "Unknown", "0", 0, "sysfs does not report the link's speed"},
      {device_, "17.0 GT/s PCIe", "16", 0, "unknown PCIe generation with 17 GT/s"},
      {device_, "5.0 GT/s PCIe", "8", 4e9, "PCIe 2.0 x8"},
      {device_, "32.0 GT/s PCIe", "16", 63.015e9, "PCIe 5.0 x16"},
      {port_, "16.0 GT/s PCIe", "8", 15.754e9, "PCIe 4.0 x8"},
  };
  EXPECT_FALSE(pcie_limit(bus_id, link_state::current, root_).rate);
  for (auto const& row : rows) {
    write({{row.port + "current_link_speed", row.speed},
           {row.port + "current_link_width", row.width}});
    rate_limit const limit = pcie_limit(bus_id, link_state::current, root_);
    EXPECT_EQ(limit.rate.has_value(), row.expected != 0);
    EXPECT_NEAR(limit.rate.value_or(0), row.expected, 0.001e9);
    EXPECT_EQ(limit.origin, row.origin);
  }
  EXPECT_FALSE(pcie_limit("0000:c2:00.0", link_state::current, root_).rate);
}

TEST_F(FakeMachine, ReportsFactsOfAmdDevice) {
  write({{device_ + "current_link_speed", "2.5 GT/s PCIe"},
         {device_ + "current_link_width", "16"},
         {device_ + "max_link_speed", "32.0 GT/s PCIe"},
         {device_ + "max_link_width", "16"},
         {device_ + "numa_node", "1"},
         {device_ + "pp_dpm_sclk", "0: 132Mhz\n1: 1200Mhz *\n2: 2100Mhz"},
         {device_ + "hwmon/hwmon3/power1_cap", "750000000"},
         {device_ + "hwmon/hwmon3/power1_input", "233100000"},
         {device_ + "hwmon/hwmon3/temp1_input", "41000"}});
  expect_facts(device_facts("amd", bus_id, root_), {{"widest link", "PCIe 5.0 x16"},
                                                    {"NUMA node of the device", "1"},
                                                    {"highest clock", "2100Mhz"},
                                                    {"power limit", "750 W"},
                                                    {"ECC", "unknown"}});
  expect_facts(machine_state("amd", bus_id, root_), {{"clock", "1200Mhz"},
                                                     {"power", "233 W"},
                                                     {"temperature", "41 °C"},
                                                     {"throttling", "unknown"}});
}

TEST_F(FakeMachine, ReportsHost) {
  write({{"proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU\ncpu MHz\t\t: 2500.5"},
         {"proc/loadavg", "0.50 1.25 12.00 1/99 1234"},
         {"proc/sys/kernel/osrelease", "6.1.0"},
         {"etc/os-release", "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 1\""}});
  expect_facts(host_facts(root_), {{"CPU", "Example CPU"},
                                   {"CPU clock", "2500 MHz"},
                                   {"operating system", "Example Linux 1, Linux 6.1.0"}});
  expect_facts(machine_state("host", "", root_), {{"load", "0.5, 1.25, 12"}});
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

TEST(ParameterFacts, AreComparedByNames) {
  auto const facts = parameter_facts({.row = 64, .pitch = 128, .element = 2});
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(facts[0].value, "64");
  EXPECT_EQ(facts[1].value, "128");
  EXPECT_EQ(facts[2].value, "2");
}

TEST(ThrottleReasons, NamesBits) {
  EXPECT_EQ(throttle_reasons("0x0000000000000000"), "none");
  EXPECT_EQ(throttle_reasons("0x0000000000000024"), "power cap, temperature");
  EXPECT_EQ(throttle_reasons("[N/A]"), "unknown");
  EXPECT_EQ(throttle_reasons(""), "unknown");
}

}  // namespace
}  // namespace rocbench
