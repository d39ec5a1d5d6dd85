// SPDX-License-Identifier: MIT
#include "base/sort_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace roc::base {
namespace {

bool is_earlier(byte_range a, byte_range b) noexcept { return a.begin < b.begin; }

// Sorted in one pass by where they lie between the first and the last, and then each such bucket,
// which holds one or two of those that lie evenly. Heaps of them are cut again, at most `depth`
// times: addresses can be chosen so that every cut takes off one.
void sort_in_buckets(std::span<byte_range> all, std::span<byte_range> scratch, unsigned depth) {
  constexpr std::size_t few = 48;
  if (all.size() <= few || depth == 0) return std::sort(all.begin(), all.end(), is_earlier);
  auto const [first, last] = std::minmax_element(all.begin(), all.end(), is_earlier);
  std::uintptr_t const origin = first->begin;
  auto const spread = static_cast<unsigned>(std::bit_width(last->begin - origin));
  auto const wanted = static_cast<unsigned>(std::bit_width(all.size()));
  unsigned const shift = spread > wanted ? spread - wanted : 0;
  auto const bucket_of = [&](byte_range each) { return (each.begin - origin) >> shift; };

  std::vector<std::size_t> ends((std::size_t{1} << wanted) + 1);
  for (byte_range const each : all) ++ends[bucket_of(each) + 1];
  for (std::size_t i = 1; i != ends.size(); ++i) ends[i] += ends[i - 1];
  // Each of them is where its bucket begins, and goes on to where it ends.
  for (byte_range const each : all) scratch[ends[bucket_of(each)]++] = each;
  std::copy_n(scratch.begin(), all.size(), all.begin());

  std::size_t begin = 0;
  for (std::size_t bucket = 0; begin != all.size(); ++bucket) {
    std::size_t const count = ends[bucket] - begin;
    if (count > 1) sort_in_buckets(all.subspan(begin, count), scratch, depth - 1);
    begin = ends[bucket];
  }
}

}  // namespace

void sort_ranges(std::span<byte_range> all) {
  if (std::is_sorted(all.begin(), all.end(), is_earlier)) return;
  std::vector<byte_range> scratch(all.size());
  sort_in_buckets(all, scratch, 3);
}

}  // namespace roc::base
