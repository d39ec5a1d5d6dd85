// SPDX-License-Identifier: MIT
// Copies told apart by what they touch between their first and last bytes, as nearly all batches
// are, without a look at anything else.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "memory/host/host_table.hpp"
#include "base/sort_ranges.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/access_range.hpp"

namespace roc::transfer {
namespace {

using memory::host_table;
using base::byte_range;

std::vector<base::byte_range> sorted_ranges(batch const& contents, layout::side which) {
  std::vector<base::byte_range> all;
  all.reserve(contents.pieces.size());
  for (batch_copy const& each : contents.pieces) all.push_back(contents.range_of(each, which));
  base::sort_ranges(all);
  return all;
}

bool are_disjoint(std::vector<base::byte_range> const& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end(), [](base::byte_range before, base::byte_range after) {
           return before.end > after.begin;
         }) == sorted.end();
}

// Both in order, those written apart from one another.
bool any_overlap(std::vector<base::byte_range> const& written, std::vector<base::byte_range> const& read) {
  auto next = written.begin();
  for (base::byte_range const each : read) {
    while (next != written.end() && next->end <= each.begin) ++next;
    if (next == written.end()) return false;
    if (next->overlaps(each)) return true;
  }
  return false;
}

}  // namespace

bool bounds_are_disjoint(batch const& contents) {
  auto const& table = host_table::instance();
  for (layout::side const which : {layout::side::source, layout::side::destination}) {
    // Such addresses are host memory's.
    if (table.gave_device_addresses(contents.bounds(which).in(detail::place::device))) return false;
  }
  bool const mixed = contents.destinations.overlap(contents.sources);
  if (!mixed && contents.destinations.in_order()) return true;
  std::vector<base::byte_range> const written = sorted_ranges(contents, layout::side::destination);
  if (!are_disjoint(written)) return false;
  return !mixed || !any_overlap(written, sorted_ranges(contents, layout::side::source));
}

}  // namespace roc::transfer
