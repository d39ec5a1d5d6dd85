// SPDX-License-Identifier: MIT
// The copies of a batch: planned once, kept small.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <roc/detail/region.hpp>

#include "base/byte_range.hpp"
#include "copy/plan.hpp"

namespace roc::transfer {

/// One copy; its axes are the contents'.
struct batch_copy {
  std::byte const* source;
  std::byte* destination;
  std::size_t bytes;
  std::size_t run;
  int source_device;       // -1: host memory, or the current device's
  int destination_device;  // the same
  std::uint64_t first_axis : 48;
  std::uint64_t rank : 8;
  std::uint64_t way_number : 8;

  direction way() const noexcept { return static_cast<direction>(way_number); }
};
// Every step over thousands of copies reads them all.
static_assert(sizeof(batch_copy) == 48);

/// What one side of all copies together touches: so much may be asked once, not of each.
class side_bounds {
 public:
  void add(base::byte_range where, detail::place in) noexcept {
    base::byte_range& all = where_[static_cast<std::size_t>(in)];
    all = around(all, where);
    // Of both places: an address may be managed memory's, which is both.
    in_order_ = in_order_ && where.begin >= end_;
    end_ = std::max(end_, where.end);
  }

  /// From the first byte to the last, by the addresses that the CPU or the device uses.
  base::byte_range in(detail::place which) const noexcept {
    return has(which) ? where_[static_cast<std::size_t>(which)] : base::byte_range{};
  }
  bool has(detail::place which) const noexcept {
    return where_[static_cast<std::size_t>(which)].end != 0;
  }
  /// Whether each copy's memory begins behind what those before it touch.
  bool in_order() const noexcept { return in_order_; }
  bool overlap(side_bounds const& other) const noexcept;

 private:
  // Of host and device; of no copies: behind every other one.
  std::array<base::byte_range, 2> where_{{{UINTPTR_MAX, 0}, {UINTPTR_MAX, 0}}};
  std::uintptr_t end_ = 0;
  bool in_order_ = true;
};

struct batch {
  batch() noexcept;
  batch(batch const&) = default;
  batch& operator=(batch const&) = delete;
  ~batch();

  std::vector<batch_copy> pieces;
  std::vector<layout::axis> axes;
  std::size_t bytes = 0;
  side_bounds sources;
  side_bounds destinations;

  /// Throws what make_plan does, but for what depends on the kinds of memory. A copy of nothing is
  /// left out.
  void add(detail::region const& source, detail::region const& destination);
  layout::canonical_layout form_of(batch_copy const& piece) const noexcept;
  /// The bytes between the first and the last that one side touches.
  base::byte_range range_of(batch_copy const& piece, layout::side which) const noexcept {
    if (piece.rank != 0) [[unlikely]] return strided_range_of(piece, which);
    void const* const data =
        which == layout::side::source ? piece.source : static_cast<std::byte const*>(piece.destination);
    return base::byte_range::of(data, piece.bytes);
  }
  side_bounds const& bounds(layout::side which) const noexcept {
    return which == layout::side::source ? sources : destinations;
  }

 private:
  void add_strided(detail::region const& source, detail::region const& destination,
                   batch_copy piece);
  void append(batch_copy const& piece, detail::place from, detail::place to);
  base::byte_range strided_range_of(batch_copy const& piece, layout::side which) const noexcept;
};

using shared_contents = std::shared_ptr<batch const>;

/// Where the batch is to be cut: the ends of the longest groups of copies in which none writes what
/// another one reads or writes. Grows with n log n; copies so interleaved that it would grow
/// faster, and that are no columns, tiles or boxes of one array, are taken to touch each other.
std::vector<std::size_t> independent_groups(batch const& contents);

}  // namespace roc::transfer
