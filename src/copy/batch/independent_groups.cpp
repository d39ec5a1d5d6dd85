// SPDX-License-Identifier: MIT
#include "copy/batch/independent_groups.hpp"

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "copy/batch/access_range.hpp"
#include "layout/overlap.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;

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
