// SPDX-License-Identifier: MIT
#include "output_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace rocbench {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  void TearDown() override { fs::remove_all(directory_); }
  static std::string text_of(fs::path const& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  fs::path directory_ = fs::temp_directory_path() / ("rocbench_out_" + std::to_string(getpid()));
  fs::path file_ = directory_ / "x.json";
};

TEST_F(OutputFile, ReplacesFileWhenWritten) {
  std::ofstream(file_) << "old";
  {
    output_file file(file_);
    EXPECT_EQ(text_of(file_), "old");
    file.write("new");
  }
  EXPECT_EQ(text_of(file_), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(OutputFile, LeavesExistingFileIfNotWritten) {
  std::ofstream(file_) << "old";
  { output_file const file(file_); }
  EXPECT_EQ(text_of(file_), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(OutputFile, ConstructorThrowsIfNotWritable) {
  EXPECT_THROW(output_file{directory_}, output_error);
  EXPECT_THROW(output_file{directory_ / "none/x.json"}, output_error);
  EXPECT_THROW(output_file{"/proc/x.json"}, output_error);
}

TEST_F(OutputFile, WriteThrowsIfDeviceIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  output_file file("/dev/full");
  EXPECT_THROW(file.write("text"), output_error);
}

}  // namespace
}  // namespace rocbench
