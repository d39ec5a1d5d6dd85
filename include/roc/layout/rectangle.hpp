// SPDX-License-Identifier: MIT
// Rectangles of bytes: any part of contiguous memory, by origin, region and pitches.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/side.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// Bytes from the beginning of one row to the next, and of one plane to the next, outermost first:
/// (row) for rectangles of two axes, (plane, row) for three. Zero: without gaps. Need not be
/// multiples of anything.
template <std::size_t N>
using pitches = std::array<std::size_t, N - 1>;

namespace detail {

/// Checks that the rectangle lies in `bytes` and gives its strides, in bytes, and its offset.
template <std::size_t N>
layout::mapping<N> rectangle_mapping(std::size_t bytes, shape<N> const& origin,
                                     shape<N> const& region, pitches<N> const& by) {
  layout::mapping<N> result{region, {}, 0};
  std::size_t step = 1;
  std::size_t first = 0;
  std::size_t end = 1;
  for (std::size_t axis = N; axis-- != 0;) {
    if (axis + 1 != N) {
      std::size_t const least = layout::detail::capped_product(step, region[axis + 1]);
      step = by[axis] == 0 ? least : by[axis];
      if (step < least) {
        std::ptrdiff_t const values[2] = {static_cast<std::ptrdiff_t>(step),
                                          static_cast<std::ptrdiff_t>(least)};
        throw_layout_error("rectangle whose (pitch, least) is ", {values, 2}, "", {},
                           ": give a pitch that holds what is inside it");
      }
    }
    result.strides[axis] = static_cast<std::ptrdiff_t>(step);
    std::size_t const here = layout::detail::capped_product(step, origin[axis]);
    std::size_t const reach =
        layout::detail::capped_product(step, region[axis] == 0 ? 0 : region[axis] - 1);
    for (std::size_t part : {here, reach}) {
      end = part > layout::detail::most_bytes - end ? layout::detail::most_bytes : end + part;
    }
    first += here;  // beyond all memory only where the end is
  }
  bool const empty = layout::detail::is_empty(region);
  if (!empty && end > bytes) {
    auto const has = static_cast<std::ptrdiff_t>(bytes);
    auto const needs = static_cast<std::ptrdiff_t>(end);
    throw_shape_error("rectangle up to byte ", {&needs, 1}, " of memory of bytes ", {&has, 1},
                      ": keep origin and region inside");
  }
  result.offset = empty ? 0 : static_cast<std::ptrdiff_t>(first);
  return result;
}

}  // namespace detail

/// A rectangle of the bytes of a contiguous array, view or range, as a view of bytes (pyopencl:
/// `enqueue_copy` with origins, region and pitches): `origin` and `region` are in bytes on the last
/// axis, rows and planes before it. Copy it to another of the same region:
///
///   roc::copy(roc::rectangle<2>(image, {y, x}, {rows, bytes}, {pitch}),
///             roc::rectangle<2>(d, {0, 0}, {rows, bytes}), stream);
///
/// It borrows. Throws shape_error (outside the memory), layout_error (memory that is not
/// contiguous, a pitch smaller than what is inside it).
template <std::size_t N, detail::copy_argument X>
  requires(N >= 1 && N <= 3 && !detail::owning_temporary<X>)
[[nodiscard]] auto rectangle(X&& x, shape<N> const& origin, shape<N> const& region,
                             pitches<N> const& by = {}) {
  auto const view = detail::view_of(x);
  using element = typename decltype(view)::element_type;
  using byte = std::conditional_t<std::is_const_v<element>, std::byte const, std::byte>;
  if (!view.is_c_contiguous() && !view.is_f_contiguous()) {
    auto const strides = view.strides();
    detail::throw_layout_error("rectangle of memory with strides ",
                               {strides.data(), strides.size()}, "", {},
                               ": give contiguous memory");
  }
  auto const at = detail::rectangle_mapping<N>(view.size_bytes(), origin, region, by);
  auto* bytes = reinterpret_cast<byte*>(view.data());
  if (bytes != nullptr) bytes += at.offset;
  if constexpr (detail::device_side<X>) {
    return device_view<byte, N>(bytes, at.shape, at.strides, view.device_ordinal());
  } else {
    return host_view<byte, N>(bytes, at.shape, at.strides);
  }
}

}  // namespace roc
