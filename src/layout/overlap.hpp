// SPDX-License-Identifier: MIT
// Overlap of strided regions: decided exactly, as integer equations, not by bounding ranges.
//
// The exact tests allocate a few terms per axis. They give up after a million steps, which only
// contrived strides need, and then return true.
#pragma once

#include <cstddef>

#include "layout/canonical_layout.hpp"

namespace roc::layout {

/// Returns true if source and destination of the layout share a byte. The result is exact, except
/// for contrived strides.
bool sides_overlap(canonical_layout const& layout);

/// Returns true if one side of `first` and one side of `second` share a byte. The result is exact,
/// except for contrived strides.
bool regions_overlap(canonical_layout const& first, side first_side, canonical_layout const& second,
                     side second_side);

/// Returns true if a cheap test proves that one side of `first` and one side of `second` share no
/// byte; false if regions_overlap has to decide. The test compares the positions of both regions
/// modulo the step of one axis, which separates columns and tiles of one array. O(rank²), allocates
/// nothing.
bool provably_disjoint(canonical_layout const& first, side first_side,
                       canonical_layout const& second, side second_side) noexcept;

/// Returns true if two different indices of the destination share a byte. The result is exact,
/// except for contrived strides.
bool destination_overlaps_itself(canonical_layout const& layout);

}  // namespace roc::layout
