// SPDX-License-Identifier: MIT
#include "base/sort_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace roc::base {
namespace {

bool is_earlier(byte_range a, byte_range b) noexcept { return a.begin < b.begin; }

// A bucket sort: about one bucket per range, evenly spaced from the first to the last address.
// Buckets with many ranges are sorted by recursion, at most `depth` levels deep: for some addresses
// each level would separate only one range from the others. `scratch` has at least the size of
// `ranges`.
void sort_in_buckets(std::span<byte_range> ranges, std::span<byte_range> scratch, unsigned depth) {
  constexpr std::size_t max_std_sort_size = 48;
  if (ranges.size() <= max_std_sort_size || depth == 0) {
    return std::sort(ranges.begin(), ranges.end(), is_earlier);
  }
  auto const [first, last] = std::minmax_element(ranges.begin(), ranges.end(), is_earlier);
  std::uintptr_t const lowest = first->begin;
  auto const address_bits = static_cast<unsigned>(std::bit_width(last->begin - lowest));
  auto const bucket_bits = static_cast<unsigned>(std::bit_width(ranges.size()));
  unsigned const shift = address_bits > bucket_bits ? address_bits - bucket_bits : 0;
  auto const bucket_of = [&](byte_range range) { return (range.begin - lowest) >> shift; };

  // A counting sort: first the number of ranges per bucket, then the beginning of each bucket,
  // which is advanced to its end while the ranges are moved there.
  std::vector<std::size_t> ends((std::size_t{1} << bucket_bits) + 1);
  for (byte_range const range : ranges) ++ends[bucket_of(range) + 1];
  for (std::size_t i = 1; i != ends.size(); ++i) ends[i] += ends[i - 1];
  for (byte_range const range : ranges) scratch[ends[bucket_of(range)]++] = range;
  std::copy_n(scratch.begin(), ranges.size(), ranges.begin());

  std::size_t begin = 0;
  for (std::size_t bucket = 0; begin != ranges.size(); ++bucket) {
    std::size_t const count = ends[bucket] - begin;
    if (count > 1) sort_in_buckets(ranges.subspan(begin, count), scratch, depth - 1);
    begin = ends[bucket];
  }
}

}  // namespace

void sort_ranges(std::span<byte_range> ranges) {
  if (std::is_sorted(ranges.begin(), ranges.end(), is_earlier)) return;
  std::vector<byte_range> scratch(ranges.size());
  sort_in_buckets(ranges, scratch, 3);
}

}  // namespace roc::base
