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

class output : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string text_of(fs::path const& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  fs::path folder_ = fs::temp_directory_path() / ("rocbench_out_" + std::to_string(getpid()));
  fs::path file_ = folder_ / "x.json";
};

TEST_F(output, is_in_its_place_once_written) {
  std::ofstream(file_) << "old";
  {
    output_file to(file_);
    EXPECT_EQ(text_of(file_), "old");
    to.write("new");
  }
  EXPECT_EQ(text_of(file_), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(output, that_is_never_written_leaves_what_was_there) {
  std::ofstream(file_) << "old";
  { output_file const to(file_); }
  EXPECT_EQ(text_of(file_), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(output, that_cannot_be_written_is_refused_at_once) {
  EXPECT_THROW(output_file{folder_}, output_error);
  EXPECT_THROW(output_file{folder_ / "none/x.json"}, output_error);
  EXPECT_THROW(output_file{"/proc/x.json"}, output_error);
}

TEST_F(output, that_is_full_is_an_error) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  output_file to("/dev/full");
  EXPECT_THROW(to.write("text"), output_error);
}

}  // namespace
}  // namespace rocbench
