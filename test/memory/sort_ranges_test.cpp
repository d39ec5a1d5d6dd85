// SPDX-License-Identifier: MIT
// Ranges come into order however they lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/sort_ranges.hpp"
#include "support/environment.hpp"

namespace {

using roc::base::byte_range;

std::vector<std::pair<std::uintptr_t, std::uintptr_t>> pairs(std::vector<byte_range> const& all) {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> result;
  for (byte_range const each : all) result.emplace_back(each.begin, each.end);
  return result;
}

void expect_sorted(std::vector<byte_range> all) {
  auto expected = pairs(all);
  roc::base::sort_ranges(all);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](byte_range a, byte_range b) { return a.begin < b.begin; }));
  auto sorted = pairs(all);
  std::sort(expected.begin(), expected.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(expected, sorted) << "none comes or goes";
}

TEST(SortRanges, EvenlyAndInHeapsAndAlike) {
  auto random = roc::test::random_generator("SortRanges.EvenlyAndInHeapsAndAlike");
  for (std::size_t const count : {0, 1, 2, 47, 48, 49, 500, 5000}) {
    std::vector<byte_range> even, heaps, alike, few_places;
    for (std::size_t i = 0; i != count; ++i) {
      std::uintptr_t const at = 4096 + i * 7919 % count * 320;
      even.push_back({at, at + 64});
      std::uintptr_t const heap = (std::uintptr_t{1} << (20 + random() % 40)) + random() % 5000;
      heaps.push_back({heap, heap + 1});
      alike.push_back({77, 78 + i});
      few_places.push_back({random() % 3, 10});
    }
    for (auto const& each : {even, heaps, alike, few_places}) expect_sorted(each);
    std::reverse(even.begin(), even.end());
    expect_sorted(even);
  }
}

// Half as far away each time: every cut into buckets takes off a few.
TEST(SortRanges, WhatNoCutHalves) {
  std::vector<byte_range> all;
  for (unsigned bits = 64; bits-- != 0;) {
    for (std::uintptr_t i = 0; i != 40; ++i) {
      std::uintptr_t const at = (std::uintptr_t{1} << bits) + i * i % 41;
      all.push_back({at, at + 1});
    }
  }
  all.push_back({std::numeric_limits<std::uintptr_t>::max(), 0});
  all.push_back({0, 1});
  expect_sorted(all);
}

}  // namespace
