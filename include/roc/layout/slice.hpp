// SPDX-License-Identifier: MIT
// The parts of an index expression: integers, slice, all, newaxis, ellipsis.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>

namespace roc {

/// Type of roc::none.
struct none_t {};
/// An omitted start or stop of a slice (Python: None).
inline constexpr none_t none{};

/// Type of roc::all.
struct all_t {};
/// Selects a whole axis (Python: `:`).
inline constexpr all_t all{};

/// Type of roc::newaxis.
struct newaxis_t {};
/// Inserts an axis of extent 1 (numpy: newaxis).
inline constexpr newaxis_t newaxis{};

/// Type of roc::ellipsis.
struct ellipsis_t {};
/// Selects all axes that no other expression selects (Python: `...`). May be used once.
inline constexpr ellipsis_t ellipsis{};

namespace layout {

/// An integer type other than bool.
template <class E>
concept integer_index =
    std::integral<std::remove_cvref_t<E>> && !std::same_as<std::remove_cvref_t<E>, bool>;

/// The start or the stop of a slice: an index, or roc::none.
struct slice_end {
  /// An omitted start or stop: the slice extends to the end of the axis.
  ROCARRAY_HOST_DEVICE constexpr slice_end(none_t) : is_none(true) {}
  /// An index. A negative one counts from the end of the axis.
  template <integer_index I>
  ROCARRAY_HOST_DEVICE constexpr slice_end(I index)
      : value(static_cast<std::ptrdiff_t>(index)),
        counts_from_end(std::is_signed_v<I> && value < 0) {}

  /// The index; unused if is_none. Negative although it does not count from the end: an unsigned
  /// index above PTRDIFF_MAX, which is beyond every extent.
  std::ptrdiff_t value = 0;
  bool is_none = false;          ///< true if omitted
  bool counts_from_end = false;  ///< true for a negative index
};

}  // namespace layout

/// Selects every `step`-th index from `start` up to, but not including, `stop` (Python's slice).
///
/// Negative indices count from the end of the axis. With `none` the slice extends to the first or
/// last element of the axis, in the direction of the step: slice(none, none, -1) reverses an axis.
/// With a positive step, `start` and `stop` may equal the extent. With a negative step both must be
/// indices of the axis; on an axis of extent 0 they may be 0. Unlike in Python, an index beyond the
/// extent is a shape_error, as is a step of zero. An empty selection is no error.
struct slice {
  /// Selects `first`, `first + increment`, ... up to, but not including, `last`.
  template <layout::integer_index I = int>
  ROCARRAY_HOST_DEVICE constexpr slice(layout::slice_end first, layout::slice_end last,
                                       I increment = 1)
      : start(first), stop(last), step(static_cast<std::ptrdiff_t>(increment)) {
    // A larger step selects the same as this one: no more than the first index.
    if (std::is_unsigned_v<I> && step < 0) step = PTRDIFF_MAX;
  }

  layout::slice_end start;  ///< the first index
  layout::slice_end stop;   ///< the index that ends the selection; it is not selected
  std::ptrdiff_t step;      ///< the distance between two selected indices; negative: backwards
};

namespace layout {

/// A type that may be passed to an array's operator().
template <class E>
concept index_expression = integer_index<E> || std::same_as<E, slice> || std::same_as<E, all_t> ||
                           std::same_as<E, newaxis_t> || std::same_as<E, ellipsis_t>;

}  // namespace layout
}  // namespace roc
