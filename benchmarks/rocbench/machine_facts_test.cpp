// SPDX-License-Identifier: MIT
#include "machine_facts.hpp"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "pcie_limit.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;

// A tree like /, with a device below a port of the PCI bus.
class FakeMachine : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(device());
    fs::create_directories(devices());
    fs::create_directory_symlink(device(), devices() / "0000:c1:00.0");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path port() const { return root_ / "sys/devices/pci0000:00/0000:00:01.0"; }
  fs::path device() const { return port() / "0000:c1:00.0"; }
  fs::path devices() const { return root_ / "sys/bus/pci/devices"; }
  static void write(fs::path const& file, char const* text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  static void write_link(fs::path const& directory, std::string const& state, char const* speed,
                         char const* width) {
    write(directory / (state + "_link_speed"), speed);
    write(directory / (state + "_link_width"), width);
  }
  rate_limit limit() const { return pcie_limit("0000:C1:00.0", devices()); }
  static std::string value(std::vector<fact> const& facts, char const* name) {
    auto const match = std::ranges::find(facts, name, &fact::name);
    return match == facts.end() ? "no such fact" : match->value;
  }

  fs::path root_ = fs::temp_directory_path() / ("rocbench_machine_" + std::to_string(getpid()));
};

TEST_F(FakeMachine, LimitIsSpeedTimesWidthTimesEncoding) {
  write_link(device(), "current", "32.0 GT/s PCIe", "16");
  ASSERT_TRUE(limit().rate);
  EXPECT_NEAR(*limit().rate, 63.015e9, 0.001e9);
  EXPECT_EQ(limit().origin, "PCIe 5.0 x16");
  write_link(device(), "current", "5.0 GT/s PCIe", "8");
  EXPECT_NEAR(*limit().rate, 4e9, 1);
}

TEST_F(FakeMachine, LimitIsThatOfNarrowestPort) {
  write_link(device(), "current", "32.0 GT/s PCIe", "16");
  write_link(port(), "current", "16.0 GT/s PCIe", "8");
  EXPECT_NEAR(*limit().rate, 15.754e9, 0.001e9);
  EXPECT_EQ(limit().origin, "PCIe 4.0 x8");
}

TEST_F(FakeMachine, LimitIsUnknownIfNotReported) {
  EXPECT_FALSE(limit().rate);
  EXPECT_EQ(limit().origin, "sysfs does not report the link's speed");
  write_link(device(), "current", "Unknown", "0");
  EXPECT_FALSE(limit().rate);
  write_link(device(), "current", "17.0 GT/s PCIe", "16");
  EXPECT_EQ(limit().origin, "unknown PCIe generation with 17 GT/s");
  EXPECT_FALSE(pcie_limit("0000:c2:00.0", devices()).rate);
}

TEST_F(FakeMachine, ReportsFactsOfAmdDevice) {
  write_link(device(), "current", "2.5 GT/s PCIe", "16");
  write_link(device(), "max", "32.0 GT/s PCIe", "16");
  write(device() / "numa_node", "1");
  write(device() / "pp_dpm_sclk", "0: 132Mhz\n1: 1200Mhz *\n2: 2100Mhz");
  write(device() / "hwmon/hwmon3/power1_cap", "750000000");
  write(device() / "hwmon/hwmon3/power1_input", "233100000");
  write(device() / "hwmon/hwmon3/temp1_input", "41000");
  auto const facts = device_facts("amd", "0000:c1:00.0", root_);
  EXPECT_EQ(value(facts, "widest link"), "PCIe 5.0 x16");
  EXPECT_EQ(value(facts, "NUMA node of the device"), "1");
  EXPECT_EQ(value(facts, "highest clock"), "2100Mhz");
  EXPECT_EQ(value(facts, "power limit"), "750 W");
  EXPECT_EQ(value(facts, "ECC"), "unknown");
  auto const state = machine_state("amd", "0000:c1:00.0", root_);
  EXPECT_EQ(value(state, "clock"), "1200Mhz");
  EXPECT_EQ(value(state, "power"), "233 W");
  EXPECT_EQ(value(state, "temperature"), "41 °C");
  EXPECT_EQ(value(state, "throttling"), "unknown");
}

TEST_F(FakeMachine, ReportsHost) {
  write(root_ / "proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU\ncpu MHz\t\t: 2500.5");
  write(root_ / "proc/loadavg", "0.50 1.25 12.00 1/99 1234");
  write(root_ / "proc/sys/kernel/osrelease", "6.1.0");
  write(root_ / "etc/os-release", "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 1\"");
  auto const facts = host_facts(root_);
  EXPECT_EQ(value(facts, "CPU"), "Example CPU");
  EXPECT_EQ(value(facts, "CPU clock"), "2500 MHz");
  EXPECT_EQ(value(facts, "operating system"), "Example Linux 1, Linux 6.1.0");
  EXPECT_EQ(value(machine_state("host", "", root_), "load"), "0.5, 1.25, 12");
}

TEST_F(FakeMachine, UnreportedFactsAreUnknown) {
  for (auto const& facts : {device_facts("amd", "0000:c1:00.0", root_ / "none"),
                            machine_state("amd", "0000:c1:00.0", root_ / "none"),
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
