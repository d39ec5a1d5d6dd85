// SPDX-License-Identifier: MIT
// Checks of the source and destination of a copy. None of these functions calls HIP or takes a
// lock.
#pragma once

#include <roc/detail/strided_region.hpp>

#include "copy/copy_kind.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::transfer {

/// Returns true if the region has no elements: one of its extents is zero.
bool is_empty(detail::strided_region const& region) noexcept;

/// Throws shape_error if the ranks or the extents of the two sides differ.
void check_shapes(detail::strided_region const& source, detail::strided_region const& destination);

/// Throws lifetime_error if either data pointer is null. The caller has excluded empty regions.
void check_pointers(detail::strided_region const& source,
                    detail::strided_region const& destination);

/// Throws overlap_error if source and destination share a byte. Both sides must be in the same
/// memory space.
void check_overlap(layout::canonical_layout const& canonical);

/// Returns the canonical layout of a copy between two non-empty regions of equal shape. Its axes
/// follow the memory order of the device side if there is one, else that of the destination.
/// Throws lifetime_error (null pointer), layout_error (the destination's strides map two indices to
/// the same byte, or the canonical layout has too many axes) and overlap_error.
layout::canonical_layout validate_and_canonicalize(detail::strided_region const& source,
                                                   detail::strided_region const& destination,
                                                   copy_kind kind);

}  // namespace roc::transfer
