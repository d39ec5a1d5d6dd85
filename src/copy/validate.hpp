// SPDX-License-Identifier: MIT
// Checks of the source and destination of a copy. None of these functions calls HIP or takes a
// lock.
#pragma once

#include <cstddef>
#include <string>

#include <roc/detail/strided_region.hpp>

#include "copy/copy_kind.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::transfer {

// Inline, because every copy calls them: shapes are short, and a loop costs less than a call.

/// Returns true if the region has no elements: one of its extents is zero.
inline bool is_empty(detail::strided_region const& region) noexcept {
  for (std::size_t i = 0; i < region.rank; ++i) {
    if (region.shape[i] == 0) return true;
  }
  return false;
}

/// Returns true if the ranks and the extents of the two sides are equal.
inline bool have_equal_shapes(detail::strided_region const& a,
                              detail::strided_region const& b) noexcept {
  if (a.rank != b.rank) return false;
  for (std::size_t i = 0; i < a.rank; ++i) {
    if (a.shape[i] != b.shape[i]) return false;
  }
  return true;
}

/// Returns the extents of a region as in messages, for example "(2, 3)".
std::string shape_text(detail::strided_region const& region);

/// Throws the shape_error of two sides whose shapes differ.
[[noreturn]] void throw_shape_error(detail::strided_region const& source,
                                    detail::strided_region const& destination);

/// Throws shape_error if the ranks or the extents of the two sides differ.
inline void check_shapes(detail::strided_region const& source,
                         detail::strided_region const& destination) {
  if (!have_equal_shapes(source, destination)) [[unlikely]]
    throw_shape_error(source, destination);
}

/// Throws the lifetime_error of two sides of which one has a null pointer.
[[noreturn]] void throw_null_pointer(detail::strided_region const& source);

/// Throws lifetime_error if either data pointer is null. The caller has excluded empty regions.
inline void check_pointers(detail::strided_region const& source,
                           detail::strided_region const& destination) {
  if (source.data == nullptr || destination.data == nullptr) [[unlikely]]
    throw_null_pointer(source);
}

/// Throws overlap_error if source and destination share a byte. Both sides must be in the same
/// memory space.
void check_overlap(layout::canonical_layout const& canonical);

/// Throws layout_error if two indices of the destination refer to the same byte.
void check_destination(layout::canonical_layout const& canonical);

/// Does what validate_and_canonicalize does for pointers that are not null, except for the check of
/// overlap.
layout::canonical_layout validate_strided(detail::strided_region const& source,
                                          detail::strided_region const& destination,
                                          copy_kind kind);

/// Returns the canonical layout of a copy between two non-empty regions of equal shape. Its axes
/// follow the memory order of the device side if there is one, else that of the destination.
/// Throws lifetime_error (null pointer), layout_error (an element is outside the address space, the
/// destination's strides map two indices to the same byte, or the canonical layout has too many
/// axes) and overlap_error.
inline layout::canonical_layout validate_and_canonicalize(detail::strided_region const& source,
                                                          detail::strided_region const& destination,
                                                          copy_kind kind) {
  check_pointers(source, destination);
  // Most copies are one run, which passes all checks of validate_strided.
  std::size_t const run = layout::bytes_of_one_run(source, destination);
  layout::canonical_layout const canonical =
      run != 0 ? layout::layout_of_run(source.data, destination.data, run)
               : validate_strided(source, destination, kind);
  if (source.space == destination.space) check_overlap(canonical);
  return canonical;
}

}  // namespace roc::transfer
