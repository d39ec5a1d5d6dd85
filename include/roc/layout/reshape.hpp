// SPDX-License-Identifier: MIT
// Other shapes over the same elements: reshape (ravel is one to a single -1), squeeze, transpose.
// Never a copy.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <roc/layout/shape.hpp>

namespace roc::layout {

/// Extents of a reshape; one may be -1, which stands for what is left.
template <std::size_t N>
using signed_shape = std::array<std::ptrdiff_t, N>;

namespace detail {

/// An extent of a reshape: -1 stands for what is left only where it was written so, not where an
/// unsigned number has gone below zero, which is too large for any array.
template <class I>
constexpr std::ptrdiff_t extent_of(I number) {
  auto const value = static_cast<std::ptrdiff_t>(number);
  return std::is_unsigned_v<I> && value < 0 ? -2 : value;
}

/// Exact extents, of a reshape.
template <std::size_t N>
constexpr std::array<std::ptrdiff_t, N> exactly(roc::shape<N> const& shape) {
  std::array<std::ptrdiff_t, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = extent_of(shape[i]);
  return result;
}

template <std::size_t N>
constexpr std::array<std::ptrdiff_t, N> as_signed(roc::shape<N> const& shape) {
  std::array<std::ptrdiff_t, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = static_cast<std::ptrdiff_t>(shape[i]);
  return result;
}

template <std::size_t N, std::size_t M>
[[noreturn]] constexpr void throw_reshape(roc::shape<N> const& from, signed_shape<M> const& to) {
  auto const has = as_signed(from);
  roc::detail::throw_shape_error("incompatible shape: array ", {has.data(), N}, ", reshape to ",
                                 {to.data(), M}, ": give extents of the same size, one may be -1");
}

// The i-th axis, fastest first.
template <std::size_t N>
constexpr std::size_t axis_at(std::size_t i, order o) {
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

/// The extents with -1 replaced. Throws shape_error where the sizes differ.
template <std::size_t N, std::size_t M>
constexpr roc::shape<M> complete_shape(roc::shape<N> const& from, signed_shape<M> const& to) {
  std::size_t const size = element_count(from);
  std::size_t known = 1;
  std::size_t open = M;
  for (std::size_t i = 0; i < M; ++i) {
    if (to[i] == -1 && open == M) {
      open = i;
    } else if (to[i] < 0) {
      detail::throw_reshape(from, to);
    } else {
      known = detail::capped_product(known, static_cast<std::size_t>(to[i]));
    }
  }
  roc::shape<M> result{};
  for (std::size_t i = 0; i < M; ++i) result[i] = static_cast<std::size_t>(to[i]);
  if (open != M) {
    if (known == 0 || size % known != 0) detail::throw_reshape(from, to);
    result[open] = size / known;
  } else if (known != size) {
    detail::throw_reshape(from, to);
  }
  return result;
}

/// The strides of a view with other extents of the same size that keeps the elements' order, all
/// strided_loop in `o`. Throws shape_error for another size, layout_error where only a copy could.
template <std::size_t N, std::size_t M>
constexpr mapping<M> reshape(mapping<N> const& from, roc::shape<M> const& to, order o) {
  if (element_count(to) != element_count(from.shape)) {
    detail::throw_reshape(from.shape, detail::as_signed(to));
  }
  mapping<M> result{to, compact_strides(to, o), from.offset};
  if (detail::is_empty(to)) return result;
  // Both shapes are cut, fastest axes first, into the smallest groups of equal size. A group of the
  // old axes must be strided_loop in even steps; the new axes then divide these.
  std::size_t i = 0;
  std::size_t k = 0;
  std::ptrdiff_t step = 1;  // of a new axis; one of extent 1 has what would follow the axis before
  while (i < N || k < M) {
    std::size_t old_size = 1;
    std::size_t new_size = 1;
    std::size_t const first = k;
    bool begun = false;       // an axis longer than 1 was met: its stride is the group's step
    std::ptrdiff_t next = 0;  // the stride that the following axis must have
    auto const take_old = [&] {
      std::size_t const axis = detail::axis_at<N>(i++, o);
      if (from.shape[axis] == 1) return;
      if (!begun) {
        begun = true;
        step = next = from.strides[axis];
      } else if (from.strides[axis] != next) {
        auto const has = detail::as_signed(from.shape);
        auto const wanted = detail::as_signed(to);
        roc::detail::throw_layout_error("reshape of a strided array ", {has.data(), N}, " to ",
                                        {wanted.data(), M}, " needs a copy: reshape_copy makes one");
      }
      next = detail::steps(next, from.shape[axis]);
      old_size *= from.shape[axis];
    };
    auto const take_new = [&] { new_size *= to[detail::axis_at<M>(k++, o)]; };
    do {
      if (old_size < new_size || (old_size == new_size && i < N)) {
        take_old();
      } else {
        take_new();
      }
    } while (old_size != new_size);
    for (std::size_t axis = first; axis < k; ++axis) {
      std::size_t const at = detail::axis_at<M>(axis, o);
      result.strides[at] = step;
      step = detail::steps(step, to[at]);
    }
  }
  return result;
}

/// Without the axes of extent 1 that are named; throws shape_error for one that is longer.
template <std::size_t... Axes, std::size_t N>
  requires((Axes < N) && ...) && (detail::are_distinct<Axes...>())
constexpr mapping<N - sizeof...(Axes)> squeeze(mapping<N> const& from) {
  std::array<bool, N> dropped{};
  (static_cast<void>(dropped[Axes] = true), ...);
  mapping<N - sizeof...(Axes)> result{{}, {}, from.offset};
  for (std::size_t i = 0, k = 0; i < N; ++i) {
    if (dropped[i]) {
      if (from.shape[i] != 1) {
        detail::throw_shape("squeeze of an axis longer than 1, shape ", from.shape,
                            ": name axes of extent 1");
      }
      continue;
    }
    result.shape[k] = from.shape[i];
    result.strides[k] = from.strides[i];
    ++k;
  }
  return result;
}

/// Without any axis of extent 1; throws shape_error where not M others are there.
template <std::size_t M, std::size_t N>
  requires(M <= N)
constexpr mapping<M> squeeze_to(mapping<N> const& from) {
  mapping<M> result{{}, {}, from.offset};
  std::size_t longer = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (from.shape[i] == 1) continue;
    if (longer < M) {
      result.shape[longer] = from.shape[i];
      result.strides[longer] = from.strides[i];
    }
    ++longer;
  }
  if (longer != M) {
    detail::throw_shape("squeeze to another number of axes than are not 1, shape ", from.shape,
                        ": name the rank that is left");
  }
  return result;
}

/// Axis i of the result is axis axes[i]. Throws layout_error for what is no permutation.
template <std::size_t N>
constexpr mapping<N> transpose(mapping<N> const& from, std::array<std::size_t, N> const& axes) {
  mapping<N> result{{}, {}, from.offset};
  std::array<bool, N> seen{};
  for (std::size_t i = 0; i < N; ++i) {
    if (axes[i] >= N || seen[axes[i]]) {
      auto const given = detail::as_signed<N>(axes);
      roc::detail::throw_layout_error("transpose with axes ", {given.data(), N}, "", {},
                                      ": name every axis once");
    }
    seen[axes[i]] = true;
    result.shape[i] = from.shape[axes[i]];
    result.strides[i] = from.strides[axes[i]];
  }
  return result;
}

/// The axes in reverse.
template <std::size_t N>
constexpr std::array<std::size_t, N> reversed_axes() {
  std::array<std::size_t, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = N - 1 - i;
  return result;
}

}  // namespace roc::layout
