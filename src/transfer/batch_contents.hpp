// SPDX-License-Identifier: MIT
// The copies of a batch: planned once, kept small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <roc/detail/region.hpp>

#include "transfer/plan.hpp"

namespace roc::transfer {

/// One copy; its axes are the contents'.
struct batch_piece {
  std::byte const* source;
  std::byte* destination;
  std::size_t bytes;
  std::size_t run;
  std::size_t first_axis;
  std::uint32_t rank;
  int source_device;       // -1: host memory, or the current device's
  int destination_device;  // the same
  direction way;
};

struct batch_contents {
  std::vector<batch_piece> pieces;
  std::vector<axis> axes;
  std::size_t bytes = 0;

  /// Throws what make_plan does, but for what depends on the kinds of memory. A copy of nothing is
  /// left out.
  void add(detail::region const& source, detail::region const& destination);
  normal_form form_of(batch_piece const& piece) const noexcept;
  /// The bytes between the first and the last that one side touches.
  memory::range range_of(batch_piece const& piece, side which) const noexcept;
};

using shared_contents = std::shared_ptr<batch_contents const>;

/// Where the batch is to be cut: the ends of the longest groups of copies in which none writes what
/// another one reads or writes. Grows with n log n; copies so interleaved that it would grow
/// faster, and that are no columns, tiles or boxes of one array, are taken to touch each other.
std::vector<std::size_t> independent_groups(batch_contents const& contents);

}  // namespace roc::transfer
