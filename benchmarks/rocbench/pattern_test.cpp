// SPDX-License-Identifier: MIT
#include "pattern.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace rocbench {
namespace {

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t sample) {
  std::vector<std::byte> result(bytes);
  write_pattern(result, sample);
  return result;
}

TEST(Pattern, HasNoRepeatedWord) {
  auto const bytes = pattern(8 << 16, 3);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(Pattern, DiffersFromPoisonInEveryByte) {
  for (std::uint64_t sample : {1u, 2u, 1000u}) {
    for (std::byte const byte : pattern(4096, sample)) {
      ASSERT_NE(byte & std::byte{0x80}, std::byte{0});
    }
    EXPECT_EQ(poison_byte(sample) & std::byte{0x80}, std::byte{0});
  }
}

TEST(Pattern, DiffersFromPreviousSampleInEveryWord) {
  auto const first = pattern(8192, 1);
  auto const second = pattern(8192, 2);
  for (std::size_t offset = 0; offset < first.size(); offset += 8) {
    EXPECT_NE(std::memcmp(&first[offset], &second[offset], 8), 0) << offset;
  }
}

// Includes sizes that several threads share.
TEST(FindPatternMismatch, AcceptsPatternOfAnySize) {
  for (std::size_t bytes : {1u, 7u, 8u, 9u, 4095u, (32u << 20) + 5u}) {
    EXPECT_FALSE(find_pattern_mismatch(pattern(bytes, 4), 4)) << bytes;
  }
}

TEST(FindPatternMismatch, FindsSingleWrongByteAnywhere) {
  std::size_t const bytes = (16 << 20) + 3;
  auto values = pattern(bytes, 5);
  for (std::size_t offset : {std::size_t{0}, std::size_t{12345}, bytes / 2, bytes - 4, bytes - 1}) {
    std::byte const expected = values[offset];
    values[offset] ^= std::byte{1};
    auto const mismatch = find_pattern_mismatch(values, 5);
    ASSERT_TRUE(mismatch) << offset;
    EXPECT_EQ(mismatch->offset, offset);
    EXPECT_EQ(mismatch->expected, expected);
    EXPECT_EQ(mismatch->actual, values[offset]);
    values[offset] = expected;
  }
}

TEST(FindPoisonMismatch, FindsSingleWrongByte) {
  std::vector<std::byte> values(4096);
  write_poison(values, 6);
  EXPECT_FALSE(find_poison_mismatch(values, 6));
  values[4095] ^= std::byte{0x80};
  auto const mismatch = find_poison_mismatch(values, 6);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->offset, 4095u);
}

}  // namespace
}  // namespace rocbench
