// SPDX-License-Identifier: MIT
// Index expressions: integers, slices, all, newaxis, ellipsis. The rank of the result is known at
// compile time. The same arithmetic serves kernels, where nothing can be thrown.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/detail/device_check.hpp>
#include <roc/detail/fixed.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/slice.hpp>

namespace roc::layout {

namespace detail {

/// How many axes an expression takes from the array and gives to the result; the ellipsis aside.
template <class E>
inline constexpr std::size_t takes =
    std::same_as<E, newaxis_t> || std::same_as<E, ellipsis_t> ? 0 : 1;
template <class E>
inline constexpr std::size_t gives = integer_index<E> || std::same_as<E, ellipsis_t> ? 0 : 1;

template <class... E>
inline constexpr std::size_t ellipses = (std::size_t{std::same_as<E, ellipsis_t>} + ... + 0);

[[noreturn]] inline void throw_index(std::ptrdiff_t index, std::size_t axis, std::size_t extent) {
  std::ptrdiff_t const place[2] = {static_cast<std::ptrdiff_t>(axis),
                                   static_cast<std::ptrdiff_t>(extent)};
  roc::detail::throw_shape_error("index out of range: ", {&index, 1}, ", axis and extent ",
                                 {place, 2}, ": use -extent to extent - 1");
}

[[noreturn]] inline void throw_slice(slice const& s, std::size_t axis, std::size_t extent) {
  std::ptrdiff_t const asked[3] = {s.start.value, s.stop.value, s.step};
  std::ptrdiff_t const place[2] = {static_cast<std::ptrdiff_t>(axis),
                                   static_cast<std::ptrdiff_t>(extent)};
  roc::detail::throw_shape_error("slice out of range: (start, stop, step) ", {asked, 3},
                                 ", axis and extent ", {place, 2},
                                 ": stay within the extent, with a step that is not zero");
}

struct picked {
  std::ptrdiff_t first;
  std::size_t extent;
};

/// Where a slice begins and how long it is: the ceiling of the distance over the step. In kernels a
/// bad one is empty.
template <bool Checked = false>
ROCARRAY_HOST_DEVICE constexpr picked pick(slice const& s, [[maybe_unused]] std::size_t axis,
                                      std::size_t extent) {
  auto const n = static_cast<std::ptrdiff_t>(extent);
  bool const forward = s.step > 0;
  std::ptrdiff_t start = s.start.value < 0 ? s.start.value + n : s.start.value;
  std::ptrdiff_t stop = s.stop.value < 0 ? s.stop.value + n : s.stop.value;
  if (s.start.natural) start = forward ? 0 : n - 1;
  if (s.stop.natural) stop = forward ? n : -1;
  std::ptrdiff_t const most = forward || n == 0 ? n : n - 1;
  bool const starts = s.start.natural || (start >= 0 && start <= most);
  bool const stops = s.stop.natural || (stop >= 0 && stop <= most);
  if (s.step == 0 || !starts || !stops) {
#if ROCARRAY_DEVICE_PASS
    roc::detail::check_in_kernel<Checked>(false, "slice out of range, or of step zero");
    return {0, 0};
#else
    throw_slice(s, axis, extent);
#endif
  }
  std::ptrdiff_t const distance = forward ? stop - start : start - stop;
  if (n == 0 || distance <= 0) return {0, 0};
  return {start, (static_cast<std::size_t>(distance) - 1) / magnitude(s.step) + 1};
}

/// The place on an axis that an integer names, from the end where negative.
template <bool Checked = false, integer_index I>
ROCARRAY_HOST_DEVICE constexpr std::ptrdiff_t place(I index, [[maybe_unused]] std::size_t axis,
                                               std::size_t extent) {
  auto const value = static_cast<std::ptrdiff_t>(index);
  bool const from_end = std::is_signed_v<I> && value < 0;
  std::ptrdiff_t const at = from_end ? value + static_cast<std::ptrdiff_t>(extent) : value;
  // An unsigned number beyond ptrdiff_t is beyond every extent, as is what is still negative.
  bool const inside = static_cast<std::size_t>(at) < extent;
#if ROCARRAY_DEVICE_PASS
  roc::detail::check_in_kernel<Checked>(inside, "index out of range");
#else
  if (!inside) throw_index(slice_end(index).value, axis, extent);
#endif
  return at;
}

/// A mapping that kernels can compute with.
template <std::size_t N>
struct kernel_mapping {
  roc::detail::fixed<std::size_t, N> shape;
  roc::detail::fixed<std::ptrdiff_t, N> strides;
  std::ptrdiff_t offset = 0;
};

}  // namespace detail

/// The rank of an array of rank N indexed by these expressions.
template <std::size_t N, class... E>
inline constexpr std::size_t index_rank =
    (detail::gives<E> + ... + 0) +
    (detail::ellipses<E...> == 1 ? N - (detail::takes<E> + ... + 0) : 0);

/// Whether the expressions address every axis of an array of rank N once.
template <std::size_t N, class... E>
concept indexes = (index_expression<E> && ...) &&
                  ((detail::ellipses<E...> == 0 && (detail::takes<E> + ... + 0) == N) ||
                   (detail::ellipses<E...> == 1 && (detail::takes<E> + ... + 0) <= N));

namespace detail {

template <bool Checked = false, std::size_t N, class... E>
ROCARRAY_HOST_DEVICE constexpr auto index(kernel_mapping<N> const& from, E... expressions) {
  kernel_mapping<index_rank<N, E...>> to;
  to.offset = from.offset;
  std::size_t axis = 0;
  std::size_t result = 0;
  bool empty = false;
  auto const keep = [&](std::size_t extent, std::ptrdiff_t stride) {
    to.shape[result] = extent;
    to.strides[result] = stride;
    ++result;
    empty = empty || extent == 0;
  };
  [[maybe_unused]] auto const move = [&](std::ptrdiff_t index, std::ptrdiff_t stride) {
    to.offset += steps(stride, static_cast<std::size_t>(index));
  };
  [[maybe_unused]] auto const apply = [&]<class X>(X expression) {
    if constexpr (std::same_as<X, newaxis_t>) {
      keep(1, 0);
    } else if constexpr (std::same_as<X, ellipsis_t>) {
      for (std::size_t left = N - (takes<E> + ... + 0); left != 0; --left, ++axis) {
        keep(from.shape[axis], from.strides[axis]);
      }
    } else if constexpr (std::same_as<X, all_t>) {
      keep(from.shape[axis], from.strides[axis]);
      ++axis;
    } else if constexpr (std::same_as<X, slice>) {
      auto const part = pick<Checked>(expression, axis, from.shape[axis]);
      move(part.first, from.strides[axis]);
      auto const step = static_cast<std::size_t>(expression.step);
      keep(part.extent, steps(from.strides[axis], step));
      ++axis;
    } else {
      move(place<Checked>(expression, axis, from.shape[axis]), from.strides[axis]);
      ++axis;
    }
  };
  (apply(expressions), ...);
  if (empty) to.offset = from.offset;
  return to;
}

}  // namespace detail

/// The mapping of a region; throws shape_error beyond an extent. An empty region begins where the
/// array does.
template <std::size_t N, class... E>
  requires indexes<N, E...>
constexpr auto index(mapping<N> const& from, E... expressions) {
  auto const to =
      detail::index(detail::kernel_mapping<N>{from.shape, from.strides, from.offset},
                    expressions...);
  return mapping<index_rank<N, E...>>{to.shape.to_array(), to.strides.to_array(), to.offset};
}

}  // namespace roc::layout
