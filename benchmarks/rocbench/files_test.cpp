// SPDX-License-Identifier: MIT
#include "files.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace rocbench {
namespace {

namespace fs = std::filesystem;

TEST(WriteFile, ReplacesFileAsAWhole) {
  fs::path const directory = fs::temp_directory_path() / ("rocbench_" + std::to_string(getpid()));
  fs::path const file = directory / "x.json";
  fs::create_directory(directory);
  write_file(file, "old");
  check_writable(file);
  EXPECT_EQ(read_file(file), "old");
  write_file(file, "new");
  EXPECT_EQ(read_file(file), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
  fs::remove_all(directory);
}

TEST(WriteFile, ThrowsIfNotWritable) {
  for (char const* path : {"/", "/nonexistent/x.json", "/proc/x.json"}) {
    EXPECT_THROW(check_writable(path), file_error) << path;
    EXPECT_THROW(write_file(path, ""), file_error) << path;
  }
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  check_writable("/dev/full");
  EXPECT_THROW(write_file("/dev/full", "text"), file_error);
}

TEST(ReadFile, ThrowsIfUnreadableOrEndless) {
  for (char const* path : {"/nonexistent/x.json", "/", "/dev/zero"}) {
    EXPECT_THROW(read_file(path), file_error) << path;
  }
}

}  // namespace
}  // namespace rocbench
