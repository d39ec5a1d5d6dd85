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

TEST(pattern, has_no_word_twice) {
  auto const bytes = pattern(8 << 16, 3);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(pattern, differs_from_the_poison_in_every_byte) {
  for (std::uint64_t sample : {1u, 2u, 1000u}) {
    for (std::byte const b : pattern(4096, sample)) {
      ASSERT_NE(b & std::byte{0x80}, std::byte{0});
    }
    EXPECT_EQ(poison_byte(sample) & std::byte{0x80}, std::byte{0});
  }
}

TEST(pattern, differs_from_the_sample_before_in_every_word) {
  auto const one = pattern(8192, 1);
  auto const two = pattern(8192, 2);
  for (std::size_t at = 0; at < one.size(); at += 8) {
    EXPECT_NE(std::memcmp(&one[at], &two[at], 8), 0) << at;
  }
}

// Sizes around words, and large enough for several threads.
TEST(pattern, is_found_whole_at_any_size) {
  for (std::size_t bytes : {1u, 7u, 8u, 9u, 4095u, (32u << 20) + 5u}) {
    EXPECT_FALSE(find_pattern_mismatch(pattern(bytes, 4), 4)) << bytes;
  }
}

TEST(pattern, one_wrong_byte_is_found_anywhere) {
  std::size_t const bytes = (16 << 20) + 3;
  auto values = pattern(bytes, 5);
  for (std::size_t at : {std::size_t{0}, std::size_t{12345}, bytes / 2, bytes - 4, bytes - 1}) {
    std::byte const right = values[at];
    values[at] ^= std::byte{1};
    auto const wrong = find_pattern_mismatch(values, 5);
    ASSERT_TRUE(wrong) << at;
    EXPECT_EQ(wrong->offset, at);
    EXPECT_EQ(wrong->expected, right);
    EXPECT_EQ(wrong->found, values[at]);
    values[at] = right;
  }
}

TEST(poison, one_wrong_byte_is_found) {
  std::vector<std::byte> values(4096);
  write_poison(values, 6);
  EXPECT_FALSE(find_poison_mismatch(values, 6));
  values[4095] ^= std::byte{0x80};
  auto const wrong = find_poison_mismatch(values, 6);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->offset, 4095u);
}

}  // namespace
}  // namespace rocbench
