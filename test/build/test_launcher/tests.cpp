// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

namespace {

TEST(Launched, First) {}
TEST(Launched, Second) {}

}  // namespace
