// SPDX-License-Identifier: MIT
// The two sides of a copy, checked against each other, and brought to one form.
#pragma once

#include <roc/detail/region.hpp>

#include "layout/canonical_layout.hpp"

namespace roc::transfer {

enum class direction : unsigned char {
  host_to_device,
  device_to_host,
  device_to_device,
  host_to_host,
};

inline direction direction_of(detail::region const& source,
                              detail::region const& destination) noexcept {
  bool const from_host = source.where == detail::place::host;
  bool const to_host = destination.where == detail::place::host;
  if (from_host) return to_host ? direction::host_to_host : direction::host_to_device;
  return to_host ? direction::device_to_host : direction::device_to_device;
}

/// Whether there is nothing to copy.
bool is_empty(detail::region const& r) noexcept;

/// Throws shape_error where the extents differ.
void check_shapes(detail::region const& source, detail::region const& destination);
/// Throws lifetime_error for a null pointer.
void check_pointers(detail::region const& source, detail::region const& destination);
/// Throws overlap_error where the two sides, both on the host or both on a device, share memory.
void check_overlap(layout::canonical_layout const& form);

/// The normal form of two sides of one shape, which are not empty, the side on the device leading.
/// Throws what the last two throw, and layout_error where the destination repeats a place.
layout::canonical_layout validate_and_canonicalize(detail::region const& source, detail::region const& destination,
                         direction way);

}  // namespace roc::transfer
