// SPDX-License-Identifier: MIT
// Exhausted device memory: CMake gives the device 1 MiB.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

constexpr std::size_t kibi = 1024;

TEST(DeviceArray, AllocatesAgainAfterOutOfMemoryIfMemoryWasFreed) {
  roc::device_array<char> first({700 * kibi});
  EXPECT_THROW(roc::device_array<char>({700 * kibi}), roc::out_of_memory);
  first = {};
  EXPECT_NO_THROW(roc::device_array<char>({700 * kibi}));
}

TEST(OutOfMemory, MessageNamesTheCallAndGivesAdviceOnce) {
  try {
    roc::device_array<char> const large({2000 * kibi});
    FAIL();
  } catch (roc::out_of_memory const& error) {
    std::string const text = error.what();
    std::string const advice = "free arrays, or use smaller ones";
    EXPECT_NE(std::string::npos, text.find("hipMalloc")) << text;
    EXPECT_NE(std::string::npos, text.find(advice)) << text;
    EXPECT_EQ(text.find(advice), text.rfind(advice)) << text;
  }
}

TEST(ToDevice, DoesNotLeakIfItThrows) {
  std::vector<char> const large(2000 * kibi);
  auto const before = roc::device().memory().free;
  EXPECT_THROW(static_cast<void>(roc::to_device(large)), roc::out_of_memory);
  EXPECT_EQ(before, roc::device().memory().free);
}

}  // namespace
