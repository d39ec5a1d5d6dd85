// SPDX-License-Identifier: MIT
// A device with one megabyte.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

constexpr std::size_t kibi = 1024;

TEST(OutOfMemory, IsThrownAndPassesOnceMemoryIsFree) {
  roc::device_array<char> first({700 * kibi});
  EXPECT_THROW(roc::device_array<char>({700 * kibi}), roc::out_of_memory);
  first = {};
  EXPECT_NO_THROW(roc::device_array<char>({700 * kibi}));
}

TEST(OutOfMemory, NothingLeaksWhenToDeviceFails) {
  std::vector<char> const large(2000 * kibi);
  auto const before = roc::device().memory().free;
  EXPECT_THROW(static_cast<void>(roc::to_device(large)), roc::out_of_memory);
  EXPECT_EQ(before, roc::device().memory().free);
}

}  // namespace
