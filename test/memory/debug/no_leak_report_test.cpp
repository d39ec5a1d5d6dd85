// SPDX-License-Identifier: MIT
// The leak report when it is disabled: CMake sets ROCARRAY_LEAK_CHECK=0.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include "memory/debug/leaks.hpp"

namespace {

TEST(LeakReport, IsEmptyIfDisabled) {
  roc::device_array<int> const array({10});
  EXPECT_EQ("", roc::memory::leak_report());
}

}  // namespace
