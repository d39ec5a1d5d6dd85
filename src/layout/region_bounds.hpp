// SPDX-License-Identifier: MIT
// The addresses that a strided region covers, checked.
#pragma once

#include <roc/detail/strided_region.hpp>

#include "base/byte_range.hpp"

namespace roc::layout {

/// Returns the range from the first to the last byte of the region's elements, of which there must
/// be one. `name` begins the message of an error. Throws layout_error if an element is outside the
/// address space.
base::byte_range checked_range(roc::detail::strided_region const& region, char const* name);

/// Returns the range from the first to the last byte of the region's elements; an empty range if
/// there are none. `name` begins the message of an error.
///
/// Throws shape_error if the elements have more than PTRDIFF_MAX bytes, lifetime_error if the data
/// pointer is null, and layout_error if an element is outside the address space.
base::byte_range checked_bounds(roc::detail::strided_region const& region, char const* name);

}  // namespace roc::layout
