// SPDX-License-Identifier: MIT
// Applies index expressions (integers, slices, all, newaxis, ellipsis) to a layout. The rank of the
// result is known at compile time. Kernels use the same functions, but cannot throw.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/detail/kernel_support.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/slice.hpp>

namespace roc::layout {

namespace detail {

/// The number of axes of the indexed array that an expression uses; 0 for an ellipsis.
template <class E>
inline constexpr std::size_t consumed_axes =
    std::same_as<E, newaxis_t> || std::same_as<E, ellipsis_t> ? 0 : 1;
/// The number of axes that an expression adds to the result; 0 for an ellipsis.
template <class E>
inline constexpr std::size_t produced_axes =
    integer_index<E> || std::same_as<E, ellipsis_t> ? 0 : 1;

template <class... E>
inline constexpr std::size_t ellipsis_count = (std::size_t{std::same_as<E, ellipsis_t>} + ... + 0);

template <integer_index I>
[[noreturn]] void throw_index(I index, std::size_t axis, std::size_t extent) {
  roc::detail::throw_shape_error("index {} is out of bounds for axis {} with size {}", index, axis,
                                 extent);
}

[[noreturn]] inline void throw_slice(slice const& s, std::size_t axis, std::size_t extent) {
  using value = roc::detail::message_value;
  auto const shown = [](slice_end const& end) {
    if (end.is_none) return value("none");
    bool const is_negative = end.counts_from_end;
    return is_negative ? value(end.value) : value(static_cast<std::size_t>(end.value));
  };
  value const start = shown(s.start);
  value const stop = shown(s.stop);
  if (s.step == 0) {
    roc::detail::throw_shape_error(
        "slice({}, {}, 0) of axis {} has a step of zero; use a positive or a negative step", start,
        stop, axis);
  }
  roc::detail::throw_shape_error("slice({}, {}, {}) is out of bounds for axis {} with size {}",
                                 start, stop, s.step, axis, extent);
}

/// The indices that a slice selects: `extent` of them, beginning with `first`.
struct resolved_slice {
  std::ptrdiff_t first;
  std::size_t extent;
};

/// Returns the indices that a slice selects on an axis with `extent` elements. Throws shape_error
/// if the slice is out of bounds or its step is zero; in a kernel such a slice is empty, or stops
/// the kernel if `Checked`.
template <bool Checked = false>
ROCARRAY_HOST_DEVICE constexpr resolved_slice resolve_slice(slice const& s,
                                                            [[maybe_unused]] std::size_t axis,
                                                            std::size_t extent) {
  auto const n = static_cast<std::ptrdiff_t>(extent);
  bool const forward = s.step > 0;
  std::ptrdiff_t start = s.start.counts_from_end ? s.start.value + n : s.start.value;
  std::ptrdiff_t stop = s.stop.counts_from_end ? s.stop.value + n : s.stop.value;
  if (s.start.is_none) start = forward ? 0 : n - 1;
  if (s.stop.is_none) stop = forward ? n : -1;
  std::ptrdiff_t const max_index = forward || n == 0 ? n : n - 1;
  bool const start_is_valid = s.start.is_none || (start >= 0 && start <= max_index);
  bool const stop_is_valid = s.stop.is_none || (stop >= 0 && stop <= max_index);
  if (s.step == 0 || !start_is_valid || !stop_is_valid) {
#if ROCARRAY_DEVICE_PASS
    roc::detail::check_in_kernel<Checked>(false, "slice out of bounds, or with a step of zero");
    return {0, 0};
#else
    throw_slice(s, axis, extent);
#endif
  }
  std::ptrdiff_t const distance = forward ? stop - start : start - stop;
  if (n == 0 || distance <= 0) return {0, 0};
  return {start, (static_cast<std::size_t>(distance) - 1) / magnitude(s.step) + 1};
}

/// Returns `index`, plus the extent if it is negative. Throws shape_error if it is out of bounds.
/// In a kernel an index out of bounds is not checked, or stops the kernel if `Checked`.
template <bool Checked = false, integer_index I>
ROCARRAY_HOST_DEVICE constexpr std::ptrdiff_t resolve_index(I index,
                                                            [[maybe_unused]] std::size_t axis,
                                                            std::size_t extent) {
  auto const value = static_cast<std::ptrdiff_t>(index);
  bool const counts_from_end = std::is_signed_v<I> && value < 0;
  std::ptrdiff_t const result =
      counts_from_end ? value + static_cast<std::ptrdiff_t>(extent) : value;
  // As an unsigned number, a negative result exceeds every extent, as does an unsigned index above
  // PTRDIFF_MAX.
  bool const in_bounds = static_cast<std::size_t>(result) < extent;
#if ROCARRAY_DEVICE_PASS
  roc::detail::check_in_kernel<Checked>(in_bounds, "index out of bounds");
#else
  if (!in_bounds) throw_index(index, axis, extent);
#endif
  return result;
}

/// A layout::mapping that kernels can use: for nvcc, the members of std::array are not
/// device functions.
template <std::size_t N>
struct kernel_mapping {
  roc::detail::kernel_array<std::size_t, N> shape;
  roc::detail::kernel_array<std::ptrdiff_t, N> strides;
  std::ptrdiff_t offset = 0;
};

}  // namespace detail

/// The rank of the result if an array of rank N is indexed with these expressions.
template <std::size_t N, class... E>
inline constexpr std::size_t index_rank =
    (detail::produced_axes<E> + ... + 0) +
    (detail::ellipsis_count<E...> == 1 ? N - (detail::consumed_axes<E> + ... + 0) : 0);

/// True if the expressions address every axis of an array of rank N exactly once.
template <std::size_t N, class... E>
concept indexable_with =
    (index_expression<E> && ...) &&
    ((detail::ellipsis_count<E...> == 0 && (detail::consumed_axes<E> + ... + 0) == N) ||
     (detail::ellipsis_count<E...> == 1 && (detail::consumed_axes<E> + ... + 0) <= N));

namespace detail {

/// Returns the mapping of the selected region. Handles errors as resolve_slice does.
template <bool Checked = false, std::size_t N, class... E>
ROCARRAY_HOST_DEVICE constexpr auto index(kernel_mapping<N> const& source, E... expressions) {
  kernel_mapping<index_rank<N, E...>> region;
  region.offset = source.offset;
  std::size_t axis = 0;
  std::size_t region_axis = 0;
  bool region_is_empty = false;
  auto const append_axis = [&](std::size_t extent, std::ptrdiff_t stride) {
    region.shape[region_axis] = extent;
    region.strides[region_axis] = stride;
    ++region_axis;
    region_is_empty = region_is_empty || extent == 0;
  };
  [[maybe_unused]] auto const advance = [&](std::ptrdiff_t index, std::ptrdiff_t stride) {
    region.offset += stride_times(stride, static_cast<std::size_t>(index));
  };
  [[maybe_unused]] auto const apply = [&]<class X>(X expression) {
    if constexpr (std::same_as<X, newaxis_t>) {
      append_axis(1, 0);
    } else if constexpr (std::same_as<X, ellipsis_t>) {
      for (std::size_t count = N - (consumed_axes<E> + ... + 0); count != 0; --count, ++axis) {
        append_axis(source.shape[axis], source.strides[axis]);
      }
    } else if constexpr (std::same_as<X, all_t>) {
      append_axis(source.shape[axis], source.strides[axis]);
      ++axis;
    } else if constexpr (std::same_as<X, slice>) {
      auto const selected = resolve_slice<Checked>(expression, axis, source.shape[axis]);
      advance(selected.first, source.strides[axis]);
      auto const step = static_cast<std::size_t>(expression.step);
      append_axis(selected.extent, stride_times(source.strides[axis], step));
      ++axis;
    } else {
      advance(resolve_index<Checked>(expression, axis, source.shape[axis]), source.strides[axis]);
      ++axis;
    }
  };
  (apply(expressions), ...);
  // The offset of an empty region could lie beyond the memory of the array.
  if (region_is_empty) region.offset = source.offset;
  return region;
}

}  // namespace detail

/// Returns the mapping of the region that the expressions select. An empty region has the offset of
/// the array.
/// @throws shape_error if an index or a slice is out of bounds, or a slice has a step of zero
template <std::size_t N, class... E>
  requires indexable_with<N, E...>
constexpr auto index(mapping<N> const& source, E... expressions) {
  auto const region = detail::index(
      detail::kernel_mapping<N>{source.shape, source.strides, source.offset}, expressions...);
  return mapping<index_rank<N, E...>>{region.shape.to_array(), region.strides.to_array(),
                                      region.offset};
}

}  // namespace roc::layout
