// SPDX-License-Identifier: MIT
// Shapes and strides: sizes, contiguity, what a layout spans. Pure arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <roc/config.hpp>
#include <roc/detail/throw.hpp>

namespace roc {

/// C order: the last axis is contiguous. F order: the first is.
enum class order { c, f };

/// Extents, one for each axis.
template <std::size_t N>
using shape = std::array<std::size_t, N>;

/// Signed, in elements, as in std::mdspan.
template <std::size_t N>
using strides = std::array<std::ptrdiff_t, N>;

namespace layout {

/// The elements that a layout touches, relative to its first: [low, high).
struct element_range_t {
  std::ptrdiff_t low;   ///< 0 or, with negative strides, less
  std::ptrdiff_t high;  ///< one past the last
};

/// Where a view lies: element `i` is at offset + sum of i[k] * strides[k].
template <std::size_t N>
struct mapping {
  roc::shape<N> shape{};      ///< extents
  roc::strides<N> strides{};  ///< in elements
  std::ptrdiff_t offset = 0;  ///< in elements
};

namespace detail {

template <std::size_t N>
[[noreturn]] constexpr void throw_shape(char const* what, roc::shape<N> const& shape,
                                        char const* advice) {
  std::array<std::ptrdiff_t, N> values{};
  for (std::size_t i = 0; i != N; ++i) values[i] = static_cast<std::ptrdiff_t>(shape[i]);
  roc::detail::throw_shape_error(what, {values.data(), N}, "", {}, advice);
}

inline constexpr std::size_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max();

// a * b, or most_bytes + 1 where that is more than most_bytes. Every view that is made asks it: to
// divide would cost more than the rest.
constexpr std::size_t capped_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  bool const wraps = __builtin_mul_overflow(a, b, &product);
  return wraps || product > most_bytes ? most_bytes + 1 : product;
}

// An extent of zero makes all of it empty, whatever the others are.
template <std::size_t N>
constexpr bool is_empty(roc::shape<N> const& shape) {
  for (std::size_t extent : shape) {
    if (extent == 0) return true;
  }
  return false;
}

// stride * n. Wraps: only the strides of axes that are never strided_loop get there.
ROCARRAY_HOST_DEVICE constexpr std::ptrdiff_t steps(std::ptrdiff_t stride, std::size_t n) {
  return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stride) * n);
}

ROCARRAY_HOST_DEVICE constexpr std::size_t magnitude(std::ptrdiff_t stride) {
  auto const value = static_cast<std::size_t>(stride);
  return stride < 0 ? std::size_t{0} - value : value;
}

}  // namespace detail

/// Throws shape_error where elements of `element_size` bytes would need more than an address space.
template <std::size_t N>
constexpr void check_size(roc::shape<N> const& shape, std::size_t element_size) {
  if (detail::is_empty(shape)) return;
  std::size_t bytes = element_size;
  for (std::size_t extent : shape) bytes = detail::capped_product(bytes, extent);
  if (bytes > detail::most_bytes) {
    detail::throw_shape("the size of shape ", shape, " overflows: use smaller extents");
  }
}

/// The number of elements; throws shape_error where it overflows.
template <std::size_t N>
constexpr std::size_t element_count(roc::shape<N> const& shape) {
  check_size(shape, 1);
  std::size_t count = 1;
  for (std::size_t extent : shape) count *= extent;
  return count;
}

/// Strides of a compact array in the given order. Throws shape_error where its size overflows.
template <std::size_t N>
constexpr roc::strides<N> compact_strides(roc::shape<N> const& shape, order o = order::c) {
  check_size(shape, 1);
  roc::strides<N> result{};
  std::size_t step = 1;
  for (std::size_t i = 0; i < N; ++i) {
    std::size_t const axis = o == order::c ? N - 1 - i : i;
    // Only an empty array, whose strides are never strided_loop, can be beyond that.
    result[axis] =
        static_cast<std::ptrdiff_t>(step < detail::most_bytes ? step : detail::most_bytes);
    step = detail::capped_product(step, shape[axis]);
  }
  return result;
}

namespace detail {

template <std::size_t N>
constexpr bool is_contiguous(roc::shape<N> const& shape, roc::strides<N> const& strides, order o) {
  std::size_t expected = 1;
  bool result = true;
  for (std::size_t i = 0; i < N; ++i) {
    std::size_t const axis = o == order::c ? N - 1 - i : i;
    if (shape[axis] == 0) return true;  // an empty array is contiguous in every order
    if (shape[axis] == 1) continue;     // its stride is never used
    if (strides[axis] < 0 || static_cast<std::size_t>(strides[axis]) != expected) result = false;
    expected = capped_product(expected, shape[axis]);
  }
  return result;
}

}  // namespace detail

/// Without gaps in C order. Unit axes do not matter; zero-size arrays are.
template <std::size_t N>
constexpr bool is_c_contiguous(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  return detail::is_contiguous(shape, strides, order::c);
}

/// Without gaps in F order.
template <std::size_t N>
constexpr bool is_f_contiguous(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  return detail::is_contiguous(shape, strides, order::f);
}

/// What a layout spans; empty for zero-size. Throws shape_error where that, or its length,
/// overflows.
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
      detail::throw_shape("the range of shape ", shape, " overflows: use smaller strides");
    }
  }
  return range;
}

/// Whether different indices are different elements. Never says so wrongly; says no for some
/// layouts whose axes interleave without meeting.
template <std::size_t N>
constexpr bool is_unique(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  if (detail::is_empty(shape)) return true;
  std::array<bool, N> taken{};
  std::size_t reach = 0;  // of the axes with smaller steps
  for (std::size_t done = 0; done < N; ++done) {
    std::size_t least = N;
    for (std::size_t i = 0; i < N; ++i) {
      if (taken[i]) continue;
      if (least == N || detail::magnitude(strides[i]) < detail::magnitude(strides[least])) {
        least = i;
      }
    }
    taken[least] = true;
    if (shape[least] == 1) continue;
    std::size_t const by = detail::magnitude(strides[least]);
    if (by <= reach) return false;
    // Capped: a layout that reaches further has no room for another axis.
    std::size_t const more = detail::capped_product(by, shape[least] - 1);
    reach = more > detail::most_bytes - reach ? detail::most_bytes : reach + more;
  }
  return true;
}

/// Compact strides for device_array_like: C and F order are kept, any other layout gets a compact
/// one whose axes follow each other in memory as those of the given strides do. Throws shape_error
/// where its size overflows.
template <std::size_t N>
constexpr roc::strides<N> like_strides(roc::shape<N> const& shape,
                                       roc::strides<N> const& strides) {
  check_size(shape, 1);
  if (is_c_contiguous(shape, strides)) return compact_strides(shape, order::c);
  if (is_f_contiguous(shape, strides)) return compact_strides(shape, order::f);
  std::array<std::size_t, N> axes{};  // smallest step first; later axes first among equals
  for (std::size_t i = 0; i < N; ++i) axes[i] = N - 1 - i;
  auto const size = [&](std::size_t k) { return detail::magnitude(strides[k]); };
  for (std::size_t i = 1; i < N; ++i) {
    for (std::size_t k = i; k > 0 && size(axes[k]) < size(axes[k - 1]); --k) {
      std::size_t const other = axes[k];
      axes[k] = axes[k - 1];
      axes[k - 1] = other;
    }
  }
  roc::strides<N> result{};
  std::size_t step = 1;
  for (std::size_t axis : axes) {
    result[axis] = static_cast<std::ptrdiff_t>(step);
    step = detail::capped_product(step, shape[axis]);
  }
  return result;
}

}  // namespace layout
}  // namespace roc
