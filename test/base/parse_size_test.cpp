// SPDX-License-Identifier: MIT
// Sizes in environment variables of the library and of HIP on the CPU.
#include "base/parse_size.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

namespace {

using roc::base::parse_size;
using roc::base::size_suffix;
using size = std::optional<std::size_t>;

TEST(ParseSize, AcceptsNumbersAndSuffixes) {
  EXPECT_EQ(size(0), parse_size("0"));
  EXPECT_EQ(size(65536), parse_size("65536"));
  EXPECT_EQ(size(65536), parse_size("64K"));
  EXPECT_EQ(size(3 << 20), parse_size("3M"));
  EXPECT_EQ(size(std::size_t{5} << 30), parse_size("5G"));
  EXPECT_EQ(size(SIZE_MAX), parse_size("18446744073709551615"));
  EXPECT_EQ(size(std::size_t{17179869183} << 30), parse_size("17179869183G"));
}

TEST(ParseSize, RejectsNumbersThatOverflow) {
  EXPECT_EQ(std::nullopt, parse_size("18446744073709551616"));
  EXPECT_EQ(std::nullopt, parse_size("17179869184G"));
  EXPECT_EQ(std::nullopt, parse_size("17179869185G"));
  EXPECT_EQ(std::nullopt, parse_size("17592186044416M"));
  EXPECT_EQ(std::nullopt, parse_size("18014398509481984K"));
}

TEST(ParseSize, RejectsOtherText) {
  for (char const* const text :
       {"", "K", "k", "1k", "1T", "1KB", "1K ", " 1", "-1", "+1", "0x10", "1.5K", "1e3"}) {
    EXPECT_EQ(std::nullopt, parse_size(text)) << text;
  }
}

TEST(ParseSize, RejectsSuffixOfACount) {
  EXPECT_EQ(size(12), parse_size("12", size_suffix::none));
  EXPECT_EQ(std::nullopt, parse_size("12K", size_suffix::none));
}

}  // namespace
