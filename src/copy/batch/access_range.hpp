// SPDX-License-Identifier: MIT
// The memory that the copies of a batch read and write, and fast tests that prove the copies
// independent.
#pragma once

#include <cstddef>
#include <vector>

#include "base/byte_range.hpp"
#include "copy/batch/batch.hpp"

namespace roc::transfer {

/// The bounding range of one side of a copy: from the first to the last byte that it accesses.
struct access_range {
  base::byte_range range;
  std::size_t copy;  // index in the batch
  layout::side side;

  bool is_write() const noexcept { return side == layout::side::destination; }
};

/// Returns the bounding range of one side of copy number `index`. Device addresses of mapped host
/// memory are translated to host addresses, so that both names of the memory compare equal. Takes
/// the host table's lock for a device side.
access_range access_range_of(batch const& batch, std::size_t index, layout::side side);

/// Returns true if the bounding ranges prove that the copies are independent: no copy writes what
/// another one reads or writes. O(n log n); O(n) for ascending or evenly spaced ranges. Returns
/// false if device addresses of mapped host memory are used.
bool are_bounds_disjoint(batch const& batch);

/// Returns all writes of the batch, followed by all reads if the bounds of reads and writes
/// overlap. If they do not overlap, no read can conflict.
std::vector<access_range> possible_conflicts(batch const& batch);

/// Returns true if no range of `ranges` that is written shares a byte with another range. Also
/// recognizes ranges that interleave in a common pattern: columns, tiles and boxes of one array.
/// O(n log n). Returns false if only an exact test could decide.
bool are_disjoint(batch const& batch, std::vector<access_range> ranges);

}  // namespace roc::transfer
