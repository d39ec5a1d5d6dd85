// SPDX-License-Identifier: MIT
// How much memory an array with given strides takes.
#pragma once

#include <cstddef>

#include <roc/detail/region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// Bytes from the first element to the end of the last. Throws layout_error where a stride is
/// negative or two indices would be one place, shape_error where the size overflows.
template <std::size_t N>
std::size_t allocation_bytes(roc::shape<N> const& shape, roc::strides<N> const& strides,
                             std::size_t element_size) {
  layout::check_size(shape, element_size);
  auto const range = layout::element_range(shape, strides);
  if (range.low != 0 || (!layout::is_unique(shape, strides) &&
                         places_repeat(N, shape.data(), strides.data()))) {
    throw_layout_error("array with strides ", {strides.data(), N}, "", {},
                       ": give strides that are not negative and keep elements apart");
  }
  layout::check_size(roc::shape<1>{static_cast<std::size_t>(range.high)}, element_size);
  return static_cast<std::size_t>(range.high) * element_size;
}

}  // namespace roc::detail
