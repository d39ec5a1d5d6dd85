// SPDX-License-Identifier: MIT
// Views of the same elements with another shape: reshape, squeeze, transpose. Never copies. (A
// ravel is a reshape to the single extent -1.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/layout/shape.hpp>

namespace roc::layout {

/// The extents of a reshape. At most one is -1, which is computed from the others.
template <std::size_t N>
using signed_shape = std::array<std::ptrdiff_t, N>;

namespace detail {

/// Returns an extent of a reshape as a signed number. Throws shape_error for an unsigned value
/// above PTRDIFF_MAX: it must not be mistaken for the -1 that is computed from the others.
template <class I>
constexpr std::ptrdiff_t signed_extent(I number) {
  auto const value = static_cast<std::ptrdiff_t>(number);
  if (std::is_unsigned_v<I> && value < 0) {
    roc::detail::throw_shape_error("cannot reshape to an extent of {}; use at most {}", number,
                                   PTRDIFF_MAX);
  }
  return value;
}

/// Returns a shape as extents of a reshape, none of which is -1.
template <std::size_t N>
constexpr signed_shape<N> exact_extents(roc::shape<N> const& shape) {
  signed_shape<N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = signed_extent(shape[i]);
  return result;
}

/// Throws shape_error. `To` is roc::shape or signed_shape.
template <std::size_t N, class To>
[[noreturn]] constexpr void throw_reshape(roc::shape<N> const& from, To const& to) {
  roc::detail::throw_shape_error(
      "cannot reshape array of shape {} to {}; use extents with the same "
      "number of elements, at most one of them -1",
      from, to);
}

/// Throws layout_error.
template <std::size_t N, std::size_t M>
[[noreturn]] constexpr void throw_needs_copy(roc::shape<N> const& from, roc::shape<M> const& to) {
  roc::detail::throw_layout_error(
      "reshape of strided array from {} to {} needs a copy; use reshape_copy", from, to);
}

/// Returns the axis with the `i`-th smallest stride in order `o`.
template <std::size_t N>
constexpr std::size_t nth_fastest_axis(std::size_t i, order o) {
  return o == order::c ? N - 1 - i : i;
}

template <std::size_t... Axes>
constexpr bool are_distinct() {
  std::array<std::size_t, sizeof...(Axes)> const axes{Axes...};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (axes[i] == axes[k]) return false;
    }
  }
  return true;
}

}  // namespace detail

/// Returns the extents `to` of a reshape, with -1 replaced by the extent that keeps the size.
/// @throws shape_error if the sizes differ, or an extent is negative
template <std::size_t N, std::size_t M>
constexpr roc::shape<M> complete_shape(roc::shape<N> const& from, signed_shape<M> const& to) {
  std::size_t const size = element_count(from);
  std::size_t explicit_size = 1;  // product of the extents other than -1
  std::size_t inferred_axis = M;  // the axis whose extent is -1
  for (std::size_t i = 0; i < M; ++i) {
    if (to[i] == -1 && inferred_axis == M) {
      inferred_axis = i;
    } else if (to[i] < 0) {
      detail::throw_reshape(from, to);
    } else {
      explicit_size = detail::saturating_product(explicit_size, static_cast<std::size_t>(to[i]));
    }
  }
  roc::shape<M> result{};
  for (std::size_t i = 0; i < M; ++i) result[i] = static_cast<std::size_t>(to[i]);
  if (inferred_axis != M) {
    if (explicit_size == 0 || size % explicit_size != 0) detail::throw_reshape(from, to);
    result[inferred_axis] = size / explicit_size;
  } else if (explicit_size != size) {
    detail::throw_reshape(from, to);
  }
  return result;
}

/// Returns the mapping of a view with shape `to` whose elements, enumerated in order `o`, are those
/// of `from` enumerated in order `o`.
/// @throws shape_error if the sizes differ
/// @throws layout_error if no strides keep the order, so that a copy is needed
template <std::size_t N, std::size_t M>
constexpr mapping<M> reshape(mapping<N> const& from, roc::shape<M> const& to, order o) {
  if (element_count(to) != element_count(from.shape)) detail::throw_reshape(from.shape, to);
  mapping<M> result{to, compact_strides(to, o), from.offset};
  if (detail::is_empty(to)) return result;
  // Splits both shapes, fastest axes first, into the smallest groups of equal size. Consecutive
  // elements of a group of old axes must have a constant distance; the new axes then subdivide the
  // group.
  std::size_t old_axes = 0;  // number of old axes handled so far
  std::size_t new_axes = 0;  // number of new axes handled so far
  std::ptrdiff_t step = 1;   // the stride of the next new axis
  while (old_axes < N || new_axes < M) {
    std::size_t old_size = 1;
    std::size_t new_size = 1;
    std::size_t const first_new_axis = new_axes;
    bool has_stride = false;  // an old axis of the group is longer than 1: its stride is the step
    std::ptrdiff_t next_stride = 0;  // the stride that the next old axis of the group must have
    auto const add_old_axis = [&] {
      std::size_t const axis = detail::nth_fastest_axis<N>(old_axes++, o);
      if (from.shape[axis] == 1) return;
      if (!has_stride) {
        has_stride = true;
        step = next_stride = from.strides[axis];
      } else if (from.strides[axis] != next_stride) {
        detail::throw_needs_copy(from.shape, to);
      }
      next_stride = detail::stride_times(next_stride, from.shape[axis]);
      old_size *= from.shape[axis];
    };
    auto const add_new_axis = [&] { new_size *= to[detail::nth_fastest_axis<M>(new_axes++, o)]; };
    do {
      if (old_size < new_size || (old_size == new_size && old_axes < N)) {
        add_old_axis();
      } else {
        add_new_axis();
      }
    } while (old_size != new_size);
    for (std::size_t i = first_new_axis; i < new_axes; ++i) {
      std::size_t const axis = detail::nth_fastest_axis<M>(i, o);
      result.strides[axis] = step;
      step = detail::stride_times(step, to[axis]);
    }
  }
  return result;
}

/// Returns the mapping without the given axes, which must have extent 1.
/// @throws shape_error if one of these axes has another extent
template <std::size_t... Axes, std::size_t N>
  requires((Axes < N) && ...) && (detail::are_distinct<Axes...>())
constexpr mapping<N - sizeof...(Axes)> squeeze(mapping<N> const& from) {
  std::array<bool, N> dropped{};
  (static_cast<void>(dropped[Axes] = true), ...);
  mapping<N - sizeof...(Axes)> result{{}, {}, from.offset};
  for (std::size_t i = 0, k = 0; i < N; ++i) {
    if (dropped[i]) {
      if (from.shape[i] != 1) {
        roc::detail::throw_shape_error(
            "cannot squeeze axis {} of shape {}: its extent is not 1; name axes of extent 1", i,
            from.shape);
      }
      continue;
    }
    result.shape[k] = from.shape[i];
    result.strides[k] = from.strides[i];
    ++k;
  }
  return result;
}

/// Returns the mapping without its axes of extent 1. M is the number of other axes.
/// @throws shape_error if the number of other axes is not M
template <std::size_t M, std::size_t N>
  requires(M <= N)
constexpr mapping<M> squeeze_to(mapping<N> const& from) {
  mapping<M> result{{}, {}, from.offset};
  std::size_t rank = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (from.shape[i] == 1) continue;
    if (rank < M) {
      result.shape[rank] = from.shape[i];
      result.strides[rank] = from.strides[i];
    }
    ++rank;
  }
  if (rank != M) {
    roc::detail::throw_shape_error(
        "cannot squeeze shape {} to rank {}: it has rank {} without axes "
        "of extent 1; use that rank",
        from.shape, M, rank);
  }
  return result;
}

/// Returns the mapping with permuted axes: axis i of the result is axis axes[i] of `from`.
/// @throws layout_error if `axes` is not a permutation
template <std::size_t N>
constexpr mapping<N> transpose(mapping<N> const& from, std::array<std::size_t, N> const& axes) {
  mapping<N> result{{}, {}, from.offset};
  std::array<bool, N> seen{};
  for (std::size_t i = 0; i < N; ++i) {
    if (axes[i] >= N || seen[axes[i]]) {
      roc::detail::throw_layout_error(
          "transpose axes are not a permutation: {}; name every axis once", axes);
    }
    seen[axes[i]] = true;
    result.shape[i] = from.shape[axes[i]];
    result.strides[i] = from.strides[axes[i]];
  }
  return result;
}

/// Returns the permutation that reverses the axes.
template <std::size_t N>
constexpr std::array<std::size_t, N> reversed_axes() {
  std::array<std::size_t, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = N - 1 - i;
  return result;
}

}  // namespace roc::layout
