// SPDX-License-Identifier: MIT
// What an index expression is made of: integers, slices, all, newaxis, ellipsis.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>

namespace roc {

/// The natural end of a slice (Python: None).
struct none_t {};
inline constexpr none_t none{};  ///< see none_t

/// All of an axis (Python: `:`).
struct all_t {};
inline constexpr all_t all{};  ///< see all_t

/// A new axis of extent 1 (numpy: newaxis).
struct newaxis_t {};
inline constexpr newaxis_t newaxis{};  ///< see newaxis_t

/// All of the axes that the other expressions leave (Python: `...`); at most one.
struct ellipsis_t {};
inline constexpr ellipsis_t ellipsis{};  ///< see ellipsis_t

namespace layout {

template <class E>
concept integer_index = std::integral<std::remove_cvref_t<E>> &&
                        !std::same_as<std::remove_cvref_t<E>, bool>;

/// One end of a slice: a number, from the end where negative, or the natural end.
struct slice_end {
  /// The natural end.
  ROCARRAY_HOST_DEVICE constexpr slice_end(none_t) : natural(true) {}
  /// A number, from the end where it is negative.
  template <integer_index I>
  ROCARRAY_HOST_DEVICE constexpr slice_end(I number) : value(static_cast<std::ptrdiff_t>(number)) {
    // An unsigned number is never from the end: too large a one is beyond every extent.
    constexpr std::ptrdiff_t most = PTRDIFF_MAX;
    if (std::is_unsigned_v<I> && value < 0) value = most;
  }

  std::ptrdiff_t value = 0;  ///< of a number
  bool natural = false;      ///< whether it is none
};

}  // namespace layout

/// Every `step`-th index from `start` up to, not including, `stop`. Negative numbers count from the
/// end, `none` is the natural end: slice(none, none, -1) reverses. Beyond the extent is an error
/// (shape_error), as is a step of zero; an empty region is none. Forwards, start and stop may be
/// the extent itself; backwards, both are indices (of an empty axis, 0 may stand).
struct slice {
  /// From `first` up to, not including, `last`, by steps of `by`.
  template <layout::integer_index I = int>
  ROCARRAY_HOST_DEVICE constexpr slice(layout::slice_end first, layout::slice_end last, I by = 1)
      : start(first), stop(last), step(layout::slice_end(by).value) {}

  layout::slice_end start;  ///< the first index
  layout::slice_end stop;   ///< the index after the last
  std::ptrdiff_t step;      ///< negative: backwards
};

namespace layout {

template <class E>
concept index_expression =
    integer_index<E> || std::same_as<E, slice> || std::same_as<E, all_t> ||
    std::same_as<E, newaxis_t> || std::same_as<E, ellipsis_t>;

}  // namespace layout
}  // namespace roc
