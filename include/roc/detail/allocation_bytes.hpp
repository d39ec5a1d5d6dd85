// SPDX-License-Identifier: MIT
// Extents and sizes of the memory that an array allocates for its shape, strides and padding.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>

#include <roc/detail/strided_region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// Returns the number of bytes from the first element to the end of the last one. Throws
/// layout_error if a stride is negative or two indices refer to the same element, and shape_error
/// if the size overflows.
template <std::size_t N>
std::size_t allocation_bytes(roc::shape<N> const& shape, roc::strides<N> const& strides,
                             std::size_t element_size) {
  layout::check_size(shape, element_size);
  auto const range = layout::element_range(shape, strides);
  if (range.low != 0 || (!layout::is_unique(shape, strides) &&
                         has_aliased_elements(N, shape.data(), strides.data()))) {
    throw_layout_error(
        "array strides are negative or map two indices to one element: {}; use non-negative "
        "strides without overlap",
        strides);
  }
  layout::check_size(roc::shape<1>{static_cast<std::size_t>(range.high)}, element_size);
  return static_cast<std::size_t>(range.high) * element_size;
}

/// Returns what allocation_bytes returns for the strides of layout::compact_strides, in any order.
/// Throws shape_error if the size overflows.
template <std::size_t N>
constexpr std::size_t compact_bytes(roc::shape<N> const& shape, std::size_t element_size) {
  layout::check_size(shape, element_size);
  return layout::detail::saturating_bytes(shape, element_size);
}

/// Returns the extents of the memory of a padded array. An array without elements has no padding.
/// Throws layout_error if the demands contradict each other, and shape_error if an extent
/// overflows.
template <std::size_t N, class Padded>
roc::shape<N> padded_extents(roc::shape<N> const& shape, Padded const& padding,
                             std::size_t element_size) {
  auto const extents = padding.extents(shape, element_size);
  return layout::detail::is_empty(shape) ? shape : extents;
}

/// Returns the padded extents of an array whose axis i was axis axes[i]; nullopt if there are none.
template <std::size_t N>
std::optional<roc::shape<N>> permuted(std::optional<roc::shape<N>> const& extents,
                                      std::array<std::size_t, N> const& axes) {
  if (!extents) return {};
  roc::shape<N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = (*extents)[axes[i]];
  return result;
}

/// Returns an extent given as any integer. Throws shape_error if it is negative.
template <std::integral I>
constexpr std::size_t checked_extent(I extent) {
  if constexpr (std::signed_integral<I>) {
    if (extent < 0) {
      throw_shape_error("an extent is negative: {}; use 0 or more", extent);
    }
  }
  return static_cast<std::size_t>(extent);
}

/// Returns extents in braces as a shape. Throws shape_error if one is negative.
template <std::integral I, std::size_t N>
constexpr roc::shape<N> shape_from(I const (&extents)[N]) {
  roc::shape<N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = checked_extent(extents[i]);
  return result;
}

}  // namespace roc::detail
