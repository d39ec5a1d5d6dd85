// SPDX-License-Identifier: MIT
// Copies told apart by what they touch between their first and last bytes, as nearly all batches
// are, without a look at anything else.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "memory/host_table.hpp"
#include "memory/sort_ranges.hpp"
#include "transfer/batch_contents.hpp"
#include "transfer/touched.hpp"

namespace roc::transfer {
namespace {

using memory::host_table;
using memory::range;

std::vector<range> sorted_ranges(batch_contents const& contents, side which) {
  std::vector<range> all;
  all.reserve(contents.pieces.size());
  for (batch_piece const& each : contents.pieces) all.push_back(contents.range_of(each, which));
  memory::sort_ranges(all);
  return all;
}

bool are_apart(std::vector<range> const& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end(), [](range before, range after) {
           return before.end > after.begin;
         }) == sorted.end();
}

// Both in order, those written apart from one another.
bool any_overlap(std::vector<range> const& written, std::vector<range> const& read) {
  auto next = written.begin();
  for (range const each : read) {
    while (next != written.end() && next->end <= each.begin) ++next;
    if (next == written.end()) return false;
    if (next->overlaps(each)) return true;
  }
  return false;
}

}  // namespace

bool bounds_are_apart(batch_contents const& contents) {
  auto const& table = host_table::instance();
  for (side const which : {side::source, side::destination}) {
    // Such addresses are host memory's.
    if (table.gave_device_addresses(contents.bounds(which).in(detail::place::device))) return false;
  }
  bool const mixed = contents.destinations.overlap(contents.sources);
  if (!mixed && contents.destinations.in_order()) return true;
  std::vector<range> const written = sorted_ranges(contents, side::destination);
  if (!are_apart(written)) return false;
  return !mixed || !any_overlap(written, sorted_ranges(contents, side::source));
}

}  // namespace roc::transfer
