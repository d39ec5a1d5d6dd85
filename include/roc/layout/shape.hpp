// SPDX-License-Identifier: MIT
// Shapes and strides: sizes, contiguity, the memory range of a layout. Arithmetic without HIP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <roc/config.hpp>
#include <roc/detail/throw.hpp>

namespace roc {

/// The order of axes in memory.
enum class order {
  c,  ///< row-major: the last axis is contiguous
  f,  ///< column-major: the first axis is contiguous
};

/// The extents of an array, one for each axis.
template <std::size_t N>
using shape = std::array<std::size_t, N>;

/// The strides of an array, one for each axis: signed, and counted in elements, as in std::mdspan.
template <std::size_t N>
using strides = std::array<std::ptrdiff_t, N>;

namespace layout {

/// The range [low, high) of the elements of a layout, relative to the element with all indices 0.
struct element_range_t {
  std::ptrdiff_t low;   ///< less than 0 if a stride is negative, else 0
  std::ptrdiff_t high;  ///< one past the last element
};

/// A strided layout: element i is at offset + the sum of i[k] * strides[k].
template <std::size_t N>
struct mapping {
  roc::shape<N> shape{};      ///< the extents
  roc::strides<N> strides{};  ///< in elements
  std::ptrdiff_t offset = 0;  ///< of the element with all indices 0, in elements
};

namespace detail {

inline constexpr std::size_t max_bytes = std::numeric_limits<std::ptrdiff_t>::max();

/// Returns a * b, or max_bytes + 1 if the product exceeds max_bytes. Every new view calls this, so
/// it avoids a division.
constexpr std::size_t saturating_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  bool const wraps = __builtin_mul_overflow(a, b, &product);
  return wraps || product > max_bytes ? max_bytes + 1 : product;
}

/// Returns the bytes of the elements, or max_bytes + 1 if they exceed max_bytes; 0 if any extent is
/// 0, also after one that exceeds the limit.
template <std::size_t N>
constexpr std::size_t saturating_bytes(roc::shape<N> const& shape, std::size_t element_size) {
  std::size_t bytes = element_size;
  for (std::size_t extent : shape) bytes = saturating_product(bytes, extent);
  return bytes;
}

/// Returns true if an extent is zero, so that the array has no elements.
template <std::size_t N>
constexpr bool is_empty(roc::shape<N> const& shape) {
  for (std::size_t extent : shape) {
    if (extent == 0) return true;
  }
  return false;
}

/// Returns stride * n. Wraps on overflow, which happens only for strides that are never applied:
/// those of axes of extent 0 or 1.
ROCARRAY_HOST_DEVICE constexpr std::ptrdiff_t stride_times(std::ptrdiff_t stride, std::size_t n) {
  return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stride) * n);
}

/// Returns the absolute value of a stride, also of PTRDIFF_MIN.
ROCARRAY_HOST_DEVICE constexpr std::size_t magnitude(std::ptrdiff_t stride) {
  auto const value = static_cast<std::size_t>(stride);
  return stride < 0 ? std::size_t{0} - value : value;
}

}  // namespace detail

/// Checks that an array fits into the address space.
/// @param element_size in bytes
/// @throws shape_error if the array is larger than PTRDIFF_MAX bytes
template <std::size_t N>
constexpr void check_size(roc::shape<N> const& shape, std::size_t element_size) {
  if (detail::saturating_bytes(shape, element_size) > detail::max_bytes) {
    roc::detail::throw_shape_error("array size overflows: shape {}; use smaller extents", shape);
  }
}

/// Returns the number of elements.
/// @throws shape_error if it exceeds PTRDIFF_MAX
template <std::size_t N>
constexpr std::size_t element_count(roc::shape<N> const& shape) {
  check_size(shape, 1);
  std::size_t count = 1;
  for (std::size_t extent : shape) count *= extent;
  return count;
}

/// Returns the strides of a contiguous array in the given order.
/// @throws shape_error if the number of elements exceeds PTRDIFF_MAX
template <std::size_t N>
constexpr roc::strides<N> compact_strides(roc::shape<N> const& shape, order o = order::c) {
  check_size(shape, 1);
  roc::strides<N> result{};
  std::size_t step = 1;
  for (std::size_t i = 0; i < N; ++i) {
    std::size_t const axis = o == order::c ? N - 1 - i : i;
    // Only the strides of an empty array, which are never applied, can reach the limit.
    result[axis] = static_cast<std::ptrdiff_t>(step < detail::max_bytes ? step : detail::max_bytes);
    step = detail::saturating_product(step, shape[axis]);
  }
  return result;
}

namespace detail {

/// Returns true if the elements follow each other in memory in order `o`.
template <std::size_t N>
constexpr bool is_contiguous(roc::shape<N> const& shape, roc::strides<N> const& strides, order o) {
  std::size_t expected = 1;
  bool result = true;
  for (std::size_t i = 0; i < N; ++i) {
    std::size_t const axis = o == order::c ? N - 1 - i : i;
    if (shape[axis] == 0) return true;  // an empty array is contiguous in every order
    if (shape[axis] == 1) continue;     // its stride is never used
    if (strides[axis] < 0 || static_cast<std::size_t>(strides[axis]) != expected) result = false;
    expected = saturating_product(expected, shape[axis]);
  }
  return result;
}

}  // namespace detail

/// Returns true if the array is contiguous in C order. Strides of axes of extent 1 do not matter;
/// an array without elements is contiguous.
template <std::size_t N>
constexpr bool is_c_contiguous(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  return detail::is_contiguous(shape, strides, order::c);
}

/// Returns true if the array is contiguous in F order. Strides of axes of extent 1 do not matter;
/// an array without elements is contiguous.
template <std::size_t N>
constexpr bool is_f_contiguous(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  return detail::is_contiguous(shape, strides, order::f);
}

/// Returns the range of the elements, gaps included; {0, 0} for an array without elements.
/// @throws shape_error if an end of the range, or its length, exceeds ptrdiff_t
template <std::size_t N>
constexpr element_range_t element_range(roc::shape<N> const& shape,
                                        roc::strides<N> const& strides) {
  if (detail::is_empty(shape)) return {0, 0};
  element_range_t range{0, 1};
  for (std::size_t i = 0; i < N; ++i) {
    std::ptrdiff_t reach = 0;
    bool overflow = __builtin_mul_overflow(shape[i] - 1, strides[i], &reach);
    auto& end = reach < 0 ? range.low : range.high;
    overflow = __builtin_add_overflow(end, reach, &end) || overflow;
    std::ptrdiff_t length = 0;
    overflow = __builtin_sub_overflow(range.high, range.low, &length) || overflow;
    if (overflow) {
      roc::detail::throw_shape_error(
          "memory range overflows: shape {}, strides {}; use smaller strides", shape, strides);
    }
  }
  return range;
}

/// Returns true if different indices always have different offsets. Conservative: returns false for
/// some layouts whose axes interleave without sharing elements.
template <std::size_t N>
constexpr bool is_unique(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  if (detail::is_empty(shape)) return true;
  std::array<bool, N> visited{};
  std::size_t reach = 0;  // distance from the first to the last element over the visited axes
  for (std::size_t visited_axes = 0; visited_axes < N; ++visited_axes) {
    std::size_t axis = N;  // the unvisited axis with the smallest stride
    for (std::size_t i = 0; i < N; ++i) {
      if (visited[i]) continue;
      if (axis == N || detail::magnitude(strides[i]) < detail::magnitude(strides[axis])) {
        axis = i;
      }
    }
    visited[axis] = true;
    if (shape[axis] == 1) continue;
    std::size_t const stride = detail::magnitude(strides[axis]);
    if (stride <= reach) return false;
    // Saturates: no further axis can have a stride beyond a reach of max_bytes.
    std::size_t const extra = detail::saturating_product(stride, shape[axis] - 1);
    reach = extra > detail::max_bytes - reach ? detail::max_bytes : reach + extra;
  }
  return true;
}

/// Returns contiguous strides whose axes have the same order in memory as those of `strides`. C and
/// F order are kept exactly. device_array_like uses this.
/// @throws shape_error if the number of elements exceeds PTRDIFF_MAX
template <std::size_t N>
constexpr roc::strides<N> like_strides(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  check_size(shape, 1);
  if (is_c_contiguous(shape, strides)) return compact_strides(shape, order::c);
  if (is_f_contiguous(shape, strides)) return compact_strides(shape, order::f);
  // Sorts the axes by stride, smallest first. Among equal strides the later axis comes first.
  std::array<std::size_t, N> axes{};
  for (std::size_t i = 0; i < N; ++i) axes[i] = N - 1 - i;
  auto const size = [&](std::size_t axis) { return detail::magnitude(strides[axis]); };
  for (std::size_t i = 1; i < N; ++i) {
    for (std::size_t k = i; k > 0 && size(axes[k]) < size(axes[k - 1]); --k) {
      std::size_t const swapped = axes[k];
      axes[k] = axes[k - 1];
      axes[k - 1] = swapped;
    }
  }
  roc::strides<N> result{};
  std::size_t step = 1;
  for (std::size_t axis : axes) {
    result[axis] = static_cast<std::ptrdiff_t>(step);
    step = detail::saturating_product(step, shape[axis]);
  }
  return result;
}

}  // namespace layout
}  // namespace roc
