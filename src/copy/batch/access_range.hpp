// SPDX-License-Identifier: MIT
// Which memory the copies of a batch read and write, and whether that is apart.
#pragma once

#include <cstddef>
#include <vector>

#include "base/byte_range.hpp"
#include "copy/batch/batch.hpp"

namespace roc::transfer {

/// Of a copy, what one of its sides touches: all between the first and the last byte.
struct touched {
  base::byte_range where;
  std::size_t piece;
  layout::side which;

  bool writes() const noexcept { return which == layout::side::destination; }
};

/// What a device knows under another address is the host memory behind it.
touched access_range_of(batch const& contents, std::size_t piece, layout::side which);

/// Whether the bounds alone tell that no copy writes what another one reads or writes. Grows with n
/// log n, and with n where they lie about evenly.
bool bounds_are_disjoint(batch const& contents);

/// What is written, and what is read where something is written among it.
std::vector<touched> conflicting_ranges(batch const& contents);

/// Whether no range that is written overlaps another one, but for what lies between the steps of
/// all: columns, tiles and boxes of one array. Grows with n log n; false where it takes more to
/// know.
bool are_disjoint(batch const& contents, std::vector<touched> all);

}  // namespace roc::transfer
