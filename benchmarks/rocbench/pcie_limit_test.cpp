// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "limits.hpp"

namespace rocbench {
namespace {

namespace fs = std::filesystem;

// A tree of links and ports as sysfs has it: /devices/pci0000:00/<port>/<device>, and a link to the
// device under its name.
class pcie_limit_of_a_tree : public testing::Test {
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
  static void write(fs::path const& folder, char const* speed, char const* width) {
    std::ofstream(folder / "current_link_speed") << speed << '\n';
    std::ofstream(folder / "current_link_width") << width << '\n';
  }
  limit ask() const { return pcie_limit("0000:C1:00.0", root_ / "bus"); }

  fs::path root_;
};

TEST_F(pcie_limit_of_a_tree, is_speed_times_width_less_the_encoding) {
  write(device(), "32.0 GT/s PCIe", "16");
  ASSERT_TRUE(ask().rate);
  EXPECT_NEAR(*ask().rate, 63.015e9, 0.001e9);
  EXPECT_EQ(ask().origin, "PCIe 5.0 x16");
  write(device(), "5.0 GT/s PCIe", "8");
  EXPECT_NEAR(*ask().rate, 4e9, 1);
}

TEST_F(pcie_limit_of_a_tree, is_that_of_the_narrowest_port) {
  write(device(), "32.0 GT/s PCIe", "16");
  write(port(), "16.0 GT/s PCIe", "8");
  EXPECT_NEAR(*ask().rate, 15.754e9, 0.001e9);
  EXPECT_EQ(ask().origin, "PCIe 4.0 x8");
}

TEST_F(pcie_limit_of_a_tree, is_unknown_where_nothing_is_told) {
  EXPECT_FALSE(ask().rate);
  EXPECT_EQ(ask().origin, "the system does not tell the link's speed");
  write(device(), "Unknown", "0");
  EXPECT_FALSE(ask().rate);
  write(device(), "17.0 GT/s PCIe", "16");
  EXPECT_EQ(ask().origin, "a link of 17 GT/s is of no known kind");
  EXPECT_FALSE(pcie_limit("0000:c2:00.0", root_ / "bus").rate);
}

}  // namespace
}  // namespace rocbench
