// SPDX-License-Identifier: MIT
#include "copy/batch/conflicts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/byte_range.hpp"
#include "base/sort_ranges.hpp"
#include "layout/overlap.hpp"
#include "memory/host/device_aliases.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;
using memory::device_aliases;

// One side of a copy, which it reads or writes.
struct access_range {
  byte_range range;  // from the first to the last byte
  std::size_t copy;  // index in the batch
  layout::side side;

  bool is_write() const noexcept { return side == layout::side::destination; }
};

// Returns the access by one side of copy number `index`. Device addresses of mapped host memory are
// translated to host addresses, so that both names of the memory compare equal. Takes the lock
// of the aliases for a device side. Throws lifetime_error for a device address of memory that was
// deregistered.
access_range access_range_of(batch const& batch, std::size_t index, layout::side side) {
  batch_copy const& copy = batch.copies[index];
  byte_range const range = batch.range_of(copy, side);
  bool const is_host =
      side == layout::side::source ? is_from_host(copy.kind()) : is_to_host(copy.kind());
  if (is_host) return {range, index, side};
  auto const host_range = device_aliases::instance().host_range_of(range);
  return {host_range.value_or(range), index, side};
}

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

// Returns true if the bounding ranges prove that the copies are independent: no copy writes what
// another one reads or writes. O(n log n); O(n) for ascending or evenly spaced ranges. Returns
// false if device addresses of mapped host memory are used.
bool are_bounds_disjoint(batch const& batch) {
  auto const& aliases = device_aliases::instance();
  for (layout::side const side : {layout::side::source, layout::side::destination}) {
    // Device addresses of mapped memory cannot be compared with host addresses.
    if (aliases.overlap(batch.bounds(side).in(detail::memory_space::device))) return false;
  }
  bool const may_read_written = batch.destinations.overlap(batch.sources);
  if (!may_read_written && batch.destinations.is_ascending()) return true;
  std::vector<byte_range> const written = sorted_ranges(batch, layout::side::destination);
  if (!are_sorted_disjoint(written)) return false;
  return !may_read_written || !any_overlap(written, sorted_ranges(batch, layout::side::source));
}

// Returns all writes of the batch, followed by all reads if the bounds of reads and writes overlap.
// If they do not overlap, no read can conflict.
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

// Returns true if no range of `ranges` that is written shares a byte with another range. Also
// recognizes ranges that interleave in a common pattern: columns, tiles and boxes of one array.
// O(n log n). Returns false if only an exact test could decide.
bool are_disjoint(batch const& batch, std::vector<access_range> ranges) {
  if (are_bounding_ranges_disjoint(ranges)) return true;
  auto const periods = periods_of(batch, ranges);
  return !periods.empty() && periodic_test(batch, ranges).are_disjoint(ranges, periods);
}

// The reads, or the writes, of one group: clusters of accesses whose bounding ranges overlap. The
// ranges of different clusters do not overlap.
class access_set {
 public:
  void clear() noexcept { clusters_.clear(); }

  // Adds an access and merges the clusters that it connects.
  void add(access_range const& access) {
    cluster merged{access.range, {}};
    for (auto position = first_overlapping(access.range);
         position != clusters_.end() && position->second.range.overlaps(access.range);
         position = clusters_.erase(position)) {
      merged.range = bounding_range(merged.range, position->second.range);
      // The smaller list is appended to the larger, so that repeated merging stays O(n log n).
      auto& members = position->second.members;
      if (merged.members.size() < members.size()) merged.members.swap(members);
      merged.members.insert(merged.members.end(), members.begin(), members.end());
    }
    merged.members.push_back(access);
    clusters_.emplace(merged.range.begin, std::move(merged));
  }

  // Returns true if `conflicts(member, access)` is true for a member whose bounding range overlaps
  // that of `access`. Subtracts the number of members visited from `budget`; returns true if the
  // budget is exhausted.
  template <class Conflicts>
  bool any_conflict(access_range const& access, std::size_t& budget, Conflicts conflicts) {
    for (auto position = first_overlapping(access.range);
         position != clusters_.end() && position->second.range.overlaps(access.range); ++position) {
      for (access_range const& member : position->second.members) {
        if (budget == 0) return true;
        --budget;
        if (member.range.overlaps(access.range) && conflicts(member, access)) return true;
      }
    }
    return false;
  }

 private:
  struct cluster {
    byte_range range;  // of all members
    std::vector<access_range> members;
  };
  std::map<std::uintptr_t, cluster> clusters_;  // by the first address

  // Returns the first cluster that overlaps `range`, or one that does not overlap it.
  std::map<std::uintptr_t, cluster>::iterator first_overlapping(byte_range range) {
    auto next = clusters_.upper_bound(range.begin);
    if (next != clusters_.begin() && std::prev(next)->second.range.overlaps(range)) --next;
    return next;
  }
};

// Divides a batch: a new group begins at each copy that conflicts with an earlier copy of its
// group.
class conflict_partitioner {
 public:
  explicit conflict_partitioner(batch const& batch)
      : batch_(batch), visit_budget_(4096 + 64 * batch.copies.size()) {
    layouts_.reserve(batch.copies.size());
    for (batch_copy const& copy : batch.copies) layouts_.push_back(batch.layout_of(copy));
  }

  // Returns the ends of the groups.
  std::vector<std::size_t> partition() {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i != batch_.copies.size(); ++i) {
      access_range const source = access_range_of(batch_, i, layout::side::source);
      access_range const destination = access_range_of(batch_, i, layout::side::destination);
      auto const conflicts = [this](access_range const& a, access_range const& b) {
        return have_conflict(a, b);
      };
      if (writes_.any_conflict(destination, visit_budget_, conflicts) ||
          writes_.any_conflict(source, visit_budget_, conflicts) ||
          reads_.any_conflict(destination, visit_budget_, conflicts)) {
        ends.push_back(i);
        writes_.clear();
        reads_.clear();
      }
      writes_.add(destination);
      reads_.add(source);
    }
    ends.push_back(batch_.copies.size());
    return ends;
  }

 private:
  // Returns true if the accesses, whose bounding ranges overlap, share a byte, or if that cannot be
  // decided with the remaining number of exact tests.
  bool have_conflict(access_range const& a, access_range const& b) {
    batch_copy const& first = batch_.copies[a.copy];
    batch_copy const& second = batch_.copies[b.copy];
    if (first.rank == 0 && second.rank == 0) return true;
    if (is_translated(a) || is_translated(b)) return true;
    layout::canonical_layout const& first_layout = layouts_[a.copy];
    layout::canonical_layout const& second_layout = layouts_[b.copy];
    if (layout::provably_disjoint(first_layout, a.side, second_layout, b.side)) return false;
    if (exact_test_budget_ == 0) return true;
    --exact_test_budget_;
    return layout::regions_overlap(first_layout, a.side, second_layout, b.side);
  }

  // Returns true if the access range was translated from device addresses to host addresses; the
  // layout of the copy, which has the device addresses, cannot be compared then.
  bool is_translated(access_range const& access) const {
    return layout::byte_range_of(layouts_[access.copy], access.side) != access.range;
  }

  batch const& batch_;
  std::vector<layout::canonical_layout> layouts_;
  access_set writes_;
  access_set reads_;
  std::size_t visit_budget_;
  std::size_t exact_test_budget_ = 256;
};

}  // namespace

std::vector<std::size_t> independent_groups(batch const& batch) {
  if (are_bounds_disjoint(batch) || are_disjoint(batch, possible_conflicts(batch))) {
    return {batch.copies.size()};
  }
  return conflict_partitioner(batch).partition();
}

}  // namespace roc::transfer
