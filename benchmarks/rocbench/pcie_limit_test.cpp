// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "pcie_limit.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;

// A tree like sysfs: /devices/pci0000:00/<port>/<device>, and a symbolic link to the device.
class PcieLimit : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("rocbench_sysfs_" + std::to_string(getpid()));
    fs::create_directories(root_ / "devices/pci0000:00/0000:00:01.0/0000:c1:00.0");
    fs::create_directories(root_ / "bus");
    fs::create_directory_symlink(device(), root_ / "bus/0000:c1:00.0");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path port() const { return root_ / "devices/pci0000:00/0000:00:01.0"; }
  fs::path device() const { return port() / "0000:c1:00.0"; }
  static void write(fs::path const& directory, char const* speed, char const* width) {
    std::ofstream(directory / "current_link_speed") << speed << '\n';
    std::ofstream(directory / "current_link_width") << width << '\n';
  }
  rate_limit limit() const { return pcie_limit("0000:C1:00.0", root_ / "bus"); }

  fs::path root_;
};

TEST_F(PcieLimit, IsSpeedTimesWidthTimesEncoding) {
  write(device(), "32.0 GT/s PCIe", "16");
  ASSERT_TRUE(limit().rate);
  EXPECT_NEAR(*limit().rate, 63.015e9, 0.001e9);
  EXPECT_EQ(limit().origin, "PCIe 5.0 x16");
  write(device(), "5.0 GT/s PCIe", "8");
  EXPECT_NEAR(*limit().rate, 4e9, 1);
}

TEST_F(PcieLimit, IsThatOfNarrowestPort) {
  write(device(), "32.0 GT/s PCIe", "16");
  write(port(), "16.0 GT/s PCIe", "8");
  EXPECT_NEAR(*limit().rate, 15.754e9, 0.001e9);
  EXPECT_EQ(limit().origin, "PCIe 4.0 x8");
}

TEST_F(PcieLimit, IsUnknownIfNotReported) {
  EXPECT_FALSE(limit().rate);
  EXPECT_EQ(limit().origin, "sysfs does not report the link's speed");
  write(device(), "Unknown", "0");
  EXPECT_FALSE(limit().rate);
  write(device(), "17.0 GT/s PCIe", "16");
  EXPECT_EQ(limit().origin, "unknown PCIe generation with 17 GT/s");
  EXPECT_FALSE(pcie_limit("0000:c2:00.0", root_ / "bus").rate);
}

}  // namespace
}  // namespace rocbench
