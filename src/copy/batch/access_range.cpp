// SPDX-License-Identifier: MIT
#include "copy/batch/access_range.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/sort_ranges.hpp"
#include "memory/host/host_table.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;
using memory::host_table;

std::vector<byte_range> sorted_ranges(batch const& batch, layout::side side) {
  std::vector<byte_range> ranges;
  ranges.reserve(batch.copies.size());
  for (batch_copy const& copy : batch.copies) ranges.push_back(batch.range_of(copy, side));
  base::sort_ranges(ranges);
  return ranges;
}

// Precondition: the ranges are sorted by their first address.
bool are_sorted_disjoint(std::vector<byte_range> const& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end(), [](byte_range earlier, byte_range later) {
           return earlier.end > later.begin;
         }) == sorted.end();
}

// Returns true if some range of `written` overlaps one of `read`. Precondition: both are sorted by
// their first address, and those of `written` are disjoint.
bool any_overlap(std::vector<byte_range> const& written, std::vector<byte_range> const& read) {
  auto next = written.begin();
  for (byte_range const range : read) {
    while (next != written.end() && next->end <= range.begin) ++next;
    if (next == written.end()) return false;
    if (next->overlaps(range)) return true;
  }
  return false;
}

// Returns the absolute number of bytes between adjacent indices of the axis.
std::ptrdiff_t step_size(layout::axis const& axis, layout::side side) {
  return std::abs(side == layout::side::source ? axis.source : axis.destination);
}

// Returns the axes of the copy that makes the access.
std::span<layout::axis const> axes_of(batch const& batch, access_range const& access) {
  batch_copy const& copy = batch.copies[access.copy];
  return {batch.axes.data() + copy.first_axis, copy.rank};
}

// Returns true if no written bounding range overlaps another bounding range. Sorts the ranges.
bool are_bounding_ranges_disjoint(std::span<access_range> ranges) {
  auto const begins_earlier = [](access_range const& a, access_range const& b) {
    return a.range.begin < b.range.begin;
  };
  // Often they are sorted already.
  if (!std::is_sorted(ranges.begin(), ranges.end(), begins_earlier)) {
    std::sort(ranges.begin(), ranges.end(), begins_earlier);
  }
  // In sorted order, a range overlaps an earlier one if it begins before the earlier one's end.
  std::uintptr_t writes_end = 0;
  std::uintptr_t accesses_end = 0;
  for (access_range const& access : ranges) {
    if (access.range.begin < (access.is_write() ? accesses_end : writes_end)) return false;
    accesses_end = std::max(accesses_end, access.range.end);
    if (access.is_write()) writes_end = std::max(writes_end, access.range.end);
  }
  return true;
}

// The addresses that an access can touch, modulo a period, as the range [begin, end).
struct periodic_range {
  std::size_t begin;
  std::size_t end;
  access_range access;
};

// Proves accesses disjoint that repeat with common periods, such as the columns or tiles of an
// array: if their ranges modulo the row pitch do not overlap, they are disjoint in every row.
class periodic_test {
 public:
  periodic_test(batch const& batch, std::span<access_range const> ranges) : batch_(batch) {
    for (access_range const& access : ranges) origin_ = std::min(origin_, access.range.begin);
  }

  // Returns true if the accesses are proved disjoint by their ranges modulo one of the periods, or
  // by their bounding ranges. Splits the accesses into clusters that overlap modulo the first
  // period, and tests each cluster with the other periods. `periods`: in ascending order.
  bool are_disjoint(std::span<access_range> ranges, std::span<std::size_t const> periods) const {
    if (periods.empty()) return are_bounding_ranges_disjoint(ranges);
    std::size_t const period = periods.front();
    std::span<std::size_t const> const other_periods = periods.subspan(1);
    std::vector<periodic_range> reduced;
    reduced.reserve(ranges.size());
    for (access_range const& access : ranges) {
      periodic_range const entry = reduce(access, period);
      // This period proves nothing if an access wraps around.
      if (entry.end > period) return are_disjoint(ranges, other_periods);
      reduced.push_back(entry);
    }
    std::sort(reduced.begin(), reduced.end(),
              [](auto const& a, auto const& b) { return a.begin < b.begin; });
    std::vector<access_range> cluster;
    std::size_t cluster_end = 0;
    for (periodic_range const& entry : reduced) {
      if (entry.begin >= cluster_end) {
        if (!are_disjoint(cluster, other_periods)) return false;
        cluster.clear();
      }
      cluster.push_back(entry.access);
      cluster_end = std::max(cluster_end, entry.end);
    }
    return are_disjoint(cluster, other_periods);
  }

 private:
  // Returns the range of the access modulo the period. Axes whose step is a multiple of the period
  // do not change an address modulo the period.
  periodic_range reduce(access_range const& access, std::size_t period) const {
    std::size_t extent_bytes = batch_.copies[access.copy].run;
    for (layout::axis const& axis : axes_of(batch_, access)) {
      auto const step = static_cast<std::size_t>(step_size(axis, access.side));
      if (step % period != 0) extent_bytes += step * (axis.extent - 1);
    }
    std::size_t const begin = (access.range.begin - origin_) % period;
    return {begin, begin + extent_bytes, access};
  }

  batch const& batch_;
  std::uintptr_t origin_ = std::numeric_limits<std::uintptr_t>::max();
};

// Returns the step sizes of the first strided write, in ascending order: the pitches of an array
// that the other copies may be parts of too. Empty if all writes are contiguous.
std::vector<std::size_t> periods_of(batch const& batch, std::span<access_range const> ranges) {
  std::vector<std::size_t> periods;
  auto const strided = std::find_if(ranges.begin(), ranges.end(), [&](access_range const& access) {
    return access.is_write() && batch.copies[access.copy].rank != 0;
  });
  if (strided == ranges.end()) return periods;
  for (layout::axis const& axis : axes_of(batch, *strided)) {
    std::ptrdiff_t const step = step_size(axis, strided->side);
    if (step > 1) periods.push_back(static_cast<std::size_t>(step));
  }
  std::sort(periods.begin(), periods.end());
  return periods;
}

}  // namespace

access_range access_range_of(batch const& batch, std::size_t index, layout::side side) {
  batch_copy const& copy = batch.copies[index];
  byte_range const range = batch.range_of(copy, side);
  bool const is_host =
      side == layout::side::source ? is_from_host(copy.kind()) : is_to_host(copy.kind());
  if (is_host) return {range, index, side};
  auto const host_range = host_table::instance().host_range_of_device_address(range);
  return {host_range.value_or(range), index, side};
}

bool are_bounds_disjoint(batch const& batch) {
  auto const& table = host_table::instance();
  for (layout::side const side : {layout::side::source, layout::side::destination}) {
    // Device addresses of mapped memory cannot be compared with host addresses.
    if (table.has_device_aliases(batch.bounds(side).in(detail::memory_space::device))) return false;
  }
  bool const may_read_written = batch.destinations.overlap(batch.sources);
  if (!may_read_written && batch.destinations.is_ascending()) return true;
  std::vector<byte_range> const written = sorted_ranges(batch, layout::side::destination);
  if (!are_sorted_disjoint(written)) return false;
  return !may_read_written || !any_overlap(written, sorted_ranges(batch, layout::side::source));
}

std::vector<access_range> possible_conflicts(batch const& batch) {
  std::size_t const count = batch.copies.size();
  std::vector<access_range> ranges;
  ranges.reserve(2 * count);
  byte_range written{std::numeric_limits<std::uintptr_t>::max(), 0};
  byte_range read = written;
  for (std::size_t i = 0; i != count; ++i) {
    ranges.push_back(access_range_of(batch, i, layout::side::destination));
    written = bounding_range(written, ranges.back().range);
    read = bounding_range(read, access_range_of(batch, i, layout::side::source).range);
  }
  if (!written.overlaps(read)) return ranges;
  for (std::size_t i = 0; i != count; ++i) {
    ranges.push_back(access_range_of(batch, i, layout::side::source));
  }
  return ranges;
}

bool are_disjoint(batch const& batch, std::vector<access_range> ranges) {
  if (are_bounding_ranges_disjoint(ranges)) return true;
  auto const periods = periods_of(batch, ranges);
  return !periods.empty() && periodic_test(batch, ranges).are_disjoint(ranges, periods);
}

}  // namespace roc::transfer
