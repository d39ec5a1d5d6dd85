// SPDX-License-Identifier: MIT
// Rectangles of bytes in contiguous memory, given by origin, region and pitches.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// The distances in bytes between the starts of two rows and of two planes, outermost first: (row)
/// for rectangles of rank 2, (plane, row) for rank 3. Zero means that rows or planes follow each
/// other without gaps. A pitch need not be aligned.
template <std::size_t N>
using pitches = std::array<std::size_t, N - 1>;

namespace detail {

/// Returns the strides and the offset of a rectangle, in bytes. Throws shape_error if it exceeds
/// `bytes`, layout_error if a pitch is too small.
template <std::size_t N>
layout::mapping<N> rectangle_mapping(std::size_t bytes, shape<N> const& origin,
                                     shape<N> const& region, pitches<N> const& pitch) {
  layout::mapping<N> result{region, {}, 0};
  std::size_t step = 1;
  std::size_t first = 0;  // offset of the rectangle
  std::size_t end = 1;    // one past its last byte; saturates
  for (std::size_t axis = N; axis-- != 0;) {
    if (axis + 1 != N) {
      std::size_t const min_pitch = layout::detail::saturating_product(step, region[axis + 1]);
      step = pitch[axis] == 0 ? min_pitch : pitch[axis];
      if (step < min_pitch) {
        throw_layout_error("rectangle pitch is too small: {} bytes; use at least {} bytes", step,
                           min_pitch);
      }
    }
    // If a step exceeds max_bytes, the extent is 1 or 0, or the check of the bounds below throws.
    // Not std::min: <algorithm> would make this header slower to compile.
    std::size_t const max_stride = layout::detail::max_bytes;
    result.strides[axis] = static_cast<std::ptrdiff_t>(step < max_stride ? step : max_stride);
    std::size_t const start = layout::detail::saturating_product(step, origin[axis]);
    std::size_t const length =
        layout::detail::saturating_product(step, region[axis] == 0 ? 0 : region[axis] - 1);
    for (std::size_t distance : {start, length}) {
      bool const saturates =
          end > layout::detail::max_bytes || distance > layout::detail::max_bytes - end;
      end = saturates ? layout::detail::max_bytes + 1 : end + distance;
    }
    first += start;  // if this overflows, `end` has saturated
  }
  bool const is_empty = layout::detail::is_empty(region);
  if (!is_empty && end > bytes) {
    throw_shape_error(
        "rectangle is out of bounds: it ends at byte {} of memory with {} bytes; use a smaller "
        "origin or region",
        end, bytes);
  }
  result.offset = is_empty ? 0 : static_cast<std::ptrdiff_t>(first);
  return result;
}

}  // namespace detail

/// Returns a view of a rectangle of the bytes of a contiguous array, view or range (pyopencl:
/// `enqueue_copy` with origins, region and pitches). Copy it to another of the same region:
///
///   roc::copy(roc::rectangle<2>(image, {y, x}, {rows, bytes}, {pitch}),
///             roc::rectangle<2>(d, {0, 0}, {rows, bytes}), stream);
///
/// @param array contiguous in C or F order
/// @param origin the first plane, row and byte of the rectangle, outermost axis first
/// @param region the size of the rectangle: planes, rows, bytes
/// @param pitch the pitches of `array` in bytes; by default rows and planes follow each other
///   without gaps, each as large as the region
/// @throws shape_error if the rectangle exceeds the memory
/// @throws layout_error if `array` is not contiguous, or a pitch is too small for the region
///
/// *Lifetime:* the view borrows the memory of `array`.
template <std::size_t N, detail::copy_argument X>
  requires(N >= 1 && N <= 3 && !detail::owning_temporary<X>)
[[nodiscard]] auto rectangle(X&& array, shape<N> const& origin, shape<N> const& region,
                             pitches<N> const& pitch = {}) {
  auto const view = detail::view_of(array);
  using element = typename decltype(view)::element_type;
  using byte = std::conditional_t<std::is_const_v<element>, std::byte const, std::byte>;
  if (!view.is_c_contiguous() && !view.is_f_contiguous()) {
    auto const strides = view.strides();
    detail::throw_layout_error(
        "rectangle of memory that is not contiguous: strides {}; use a contiguous array", strides);
  }
  auto const mapping = detail::rectangle_mapping<N>(view.size_bytes(), origin, region, pitch);
  auto* bytes = reinterpret_cast<byte*>(view.data());
  if (bytes != nullptr) bytes += mapping.offset;
  if constexpr (detail::device_argument<X>) {
    return device_view<byte, N>(bytes, mapping.shape, mapping.strides, view.device_ordinal());
  } else {
    return host_view<byte, N>(bytes, mapping.shape, mapping.strides);
  }
}

}  // namespace roc
