// SPDX-License-Identifier: MIT
#include "format.hpp"

#include <gtest/gtest.h>

namespace rocbench {
namespace {

TEST(FormatSize, UsesBinaryUnits) {
  EXPECT_EQ(format_size(17), "17 B");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(256 << 20), "256 MiB");
  EXPECT_EQ(format_size(double(1ull << 50)), "1024 TiB");
}

TEST(FormatRate, HasAtLeastThreeSignificantDigits) {
  EXPECT_EQ(format_rate(55.44e9), "55.44");
  EXPECT_EQ(format_rate(4087.06e9), "4087.1");
  EXPECT_EQ(format_rate(12.3e6), "0.0123");
}

TEST(FormatTime, ChoosesUnitByMagnitude) {
  EXPECT_EQ(format_time(4.5e-9), "4.50 ns");
  EXPECT_EQ(format_time(12.34e-6), "12.3 µs");
  EXPECT_EQ(format_time(0.123), "123 ms");
  EXPECT_EQ(format_time(4567), "4567 s");
}

TEST(FormatFraction, MarksFractionsAboveOneAndClampsBar) {
  EXPECT_EQ(format_fraction(0.876), "88 %");
  EXPECT_EQ(format_fraction(1.04), "104 % !");
  EXPECT_EQ(text_bar(0), "[          ]");
  EXPECT_EQ(text_bar(0.76), "[########  ]");
  EXPECT_EQ(text_bar(3), "[##########]");
}

}  // namespace
}  // namespace rocbench
