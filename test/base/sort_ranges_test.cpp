// SPDX-License-Identifier: MIT
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

std::vector<std::pair<std::uintptr_t, std::uintptr_t>> pairs(
    std::vector<byte_range> const& ranges) {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> result;
  for (byte_range const range : ranges) result.emplace_back(range.begin, range.end);
  return result;
}

// Sorts the ranges, and checks that they are a sorted permutation.
void check_sort(std::vector<byte_range> ranges) {
  auto expected = pairs(ranges);
  roc::base::sort_ranges(ranges);
  EXPECT_TRUE(std::is_sorted(ranges.begin(), ranges.end(),
                             [](byte_range a, byte_range b) { return a.begin < b.begin; }));
  auto sorted = pairs(ranges);
  std::sort(expected.begin(), expected.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(expected, sorted) << "ranges were lost or added";
}

TEST(SortRanges, SortsEvenClusteredAndEqualRanges) {
  auto random = roc::test::random_generator("SortRanges.SortsEvenClusteredAndEqualRanges");
  for (std::size_t const count : {0, 1, 2, 47, 48, 49, 500, 5000}) {
    std::vector<byte_range> even, clustered, same_begin, few_begins;
    for (std::size_t i = 0; i != count; ++i) {
      std::uintptr_t const begin = 4096 + i * 7919 % count * 320;
      even.push_back({begin, begin + 64});
      std::uintptr_t const cluster = (std::uintptr_t{1} << (20 + random() % 40)) + random() % 5000;
      clustered.push_back({cluster, cluster + 1});
      same_begin.push_back({77, 78 + i});
      few_begins.push_back({random() % 3, 10});
    }
    for (auto const& ranges : {even, clustered, same_begin, few_begins}) check_sort(ranges);
    std::reverse(even.begin(), even.end());
    check_sort(even);
  }
}

// The ranges are at distances that double each time, so that every pass of the bucket sort takes
// off only a few.
TEST(SortRanges, SortsExponentiallySpacedRanges) {
  std::vector<byte_range> ranges;
  for (unsigned bits = 64; bits-- != 0;) {
    for (std::uintptr_t i = 0; i != 40; ++i) {
      std::uintptr_t const begin = (std::uintptr_t{1} << bits) + i * i % 41;
      ranges.push_back({begin, begin + 1});
    }
  }
  ranges.push_back({std::numeric_limits<std::uintptr_t>::max(), 0});
  ranges.push_back({0, 1});
  check_sort(ranges);
}

}  // namespace
