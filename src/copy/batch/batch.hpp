// SPDX-License-Identifier: MIT
// The copies of a copy_batch, with their canonical layouts. The kinds of memory are looked up
// later, when the batch is submitted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <roc/detail/strided_region.hpp>

#include "base/byte_range.hpp"
#include "copy/copy_kind.hpp"
#include "copy/plan.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// One copy of a batch: its canonical layout, whose axes are stored in the batch. Small, because
/// every pass over a batch reads thousands of these.
struct batch_copy {
  std::byte const* source;
  std::byte* destination;
  std::size_t bytes;
  std::size_t run;
  int source_device;              // -1: host memory, or memory of the current device
  int destination_device;         // -1: host memory, or memory of the current device
  std::uint64_t first_axis : 48;  // index into batch::axes
  std::uint64_t rank : 8;
  std::uint64_t kind_value : 4;
  // See strided_region. Untracked device sides may be accessible to the CPU at the same addresses.
  std::uint64_t is_source_untracked : 1;
  std::uint64_t is_source_partly_pinned : 1;
  std::uint64_t is_destination_untracked : 1;
  std::uint64_t is_destination_partly_pinned : 1;

  copy_kind kind() const noexcept { return static_cast<copy_kind>(kind_value); }
  /// Returns the memory of one side.
  side_memory memory_of(layout::side side) const noexcept {
    return side == layout::side::source
               ? side_memory{source_device, is_source_untracked != 0, is_source_partly_pinned != 0}
               : side_memory{destination_device, is_destination_untracked != 0,
                             is_destination_partly_pinned != 0};
  }
};
static_assert(sizeof(batch_copy) == 48);

/// The bounds of all memory that one side of the copies of a batch accesses. One test of the bounds
/// often replaces a test of each copy.
class side_bounds {
 public:
  /// Extends the bounds by the range of one copy in the memory space `space`.
  void add(base::byte_range range, detail::memory_space space) noexcept {
    base::byte_range& bounds = bounds_[static_cast<std::size_t>(space)];
    bounds = bounding_range(bounds, range);
    // Compared across both spaces: managed memory has the same addresses in both.
    is_ascending_ = is_ascending_ && range.begin >= end_;
    end_ = std::max(end_, range.end);
  }

  /// Returns the range from the first to the last byte in `space`; empty if no copy has this side
  /// in `space`. The range of device memory has device addresses.
  base::byte_range in(detail::memory_space space) const noexcept {
    return has(space) ? bounds_[static_cast<std::size_t>(space)] : base::byte_range{};
  }
  /// Returns true if some copy has this side in `space`.
  bool has(detail::memory_space space) const noexcept {
    return bounds_[static_cast<std::size_t>(space)].end != 0;
  }
  /// Returns true if the range of each copy begins at or after the end of all ranges added before
  /// it; then no two ranges overlap.
  bool is_ascending() const noexcept { return is_ascending_; }
  /// Returns true if the bounds of the two sides overlap in any space.
  bool overlap(side_bounds const& other) const noexcept;

 private:
  // Indexed by space; without copies, the bounds are an empty range at the highest address.
  std::array<base::byte_range, 2> bounds_{{{UINTPTR_MAX, 0}, {UINTPTR_MAX, 0}}};
  std::uintptr_t end_ = 0;
  bool is_ascending_ = true;
};

/// The copies of a copy_batch. Shared and unchanged while enqueued work uses it. Not thread-safe;
/// calls no HIP function.
struct batch {
  /// Creates an empty batch. Reuses the memory of a destroyed batch if available.
  batch() noexcept;
  batch(batch const&) = default;
  batch& operator=(batch const&) = delete;
  /// Keeps the memory of `copies` for the next batch if it is not too large.
  ~batch();

  std::vector<batch_copy> copies;
  std::vector<layout::axis> axes;  // of all copies that are not contiguous
  std::size_t bytes = 0;           // of all copies
  side_bounds sources;
  side_bounds destinations;

  /// Adds a copy; ignores a copy of no elements. Throws what make_plan throws, except for
  /// registration_error: the kinds of memory are looked up when the batch is submitted. If it
  /// throws, no copy is added.
  void add(detail::strided_region const& source, detail::strided_region const& destination);

  /// Returns the canonical layout of a copy of this batch.
  layout::canonical_layout layout_of(batch_copy const& copy) const noexcept;

  /// Returns the range from the first to the last byte that one side of a copy touches.
  base::byte_range range_of(batch_copy const& copy, layout::side side) const noexcept {
    if (copy.rank != 0) [[unlikely]]
      return strided_range_of(copy, side);
    void const* const data = side == layout::side::source
                                 ? copy.source
                                 : static_cast<std::byte const*>(copy.destination);
    return base::byte_range::of(data, copy.bytes);
  }
  side_bounds const& bounds(layout::side side) const noexcept {
    return side == layout::side::source ? sources : destinations;
  }

 private:
  // Adds a copy that is not compact in C order on both sides; `copy` has its devices and kind.
  void add_strided(detail::strided_region const& source, detail::strided_region const& destination,
                   batch_copy copy);
  // Stores a complete copy and extends the bounds of both sides.
  void append(batch_copy const& copy, detail::memory_space from, detail::memory_space to);
  base::byte_range strided_range_of(batch_copy const& copy, layout::side side) const noexcept;
};

using shared_batch = std::shared_ptr<batch const>;

/// Indices of some copies of a batch, in ascending order. Stored as index ranges, because mostly
/// all copies are selected.
class copy_selection {
 public:
  struct index_range {
    std::size_t first;
    std::size_t end;
  };

  /// Adds an index, which must be greater than all others.
  void push_back(std::size_t index) {
    if (!ranges_.empty() && ranges_.back().end == index) {
      ++ranges_.back().end;
    } else {
      ranges_.push_back({index, index + 1});
    }
  }
  bool empty() const noexcept { return ranges_.empty(); }
  std::vector<index_range> const& ranges() const noexcept { return ranges_; }

 private:
  std::vector<index_range> ranges_;
};

}  // namespace roc::transfer
