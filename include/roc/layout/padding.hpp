// SPDX-License-Identifier: MIT
// Padding: memory whose extents are larger than those of the array, computed from constraints.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <numeric>

#include <roc/detail/throw.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// The constraints on the padded extent of one axis (katsdpsigproc: `Dimension`).
///
/// All constraints apply together; their order does not matter. An invalid constraint throws
/// layout_error at once: rounding to 0, alignment to a number that is not a power of two, a
/// second exact extent, a fifth different rounding. Constraints that no extent satisfies throw
/// layout_error when an array is made.
class padding {
 public:
  /// No constraint: the padded extent equals the extent.
  constexpr padding() = default;
  /// Same as exactly(extent). Implicit, so that padded<2>{10, 128} reads as a shape.
  template <std::integral I>
  constexpr padding(I extent) {  // NOLINT: implicit
    exactly(static_cast<std::size_t>(extent));
  }

  /// Requires at least the extent rounded up to a multiple of `n` elements, for kernels that
  /// process blocks of `n` elements. `n` must not be 0.
  constexpr padding& round_to(std::size_t n) {
    if (n == 0) fail("cannot round a padded extent to a multiple of {}; use 1 or more", n);
    // The result is at least every rounded extent; which one is the largest depends on the extent.
    for (std::size_t i = 0; i < roundings_; ++i) {
      if (rounding_[i] == n) return *this;
    }
    if (roundings_ == max_roundings) {
      fail("too many different roundings of a padded extent: cannot add {}; use at most 4", n);
    }
    rounding_[roundings_++] = n;
    return *this;
  }
  /// Requires at least `n` elements.
  constexpr padding& at_least(std::size_t n) {
    if (n > minimum_) minimum_ = n;
    return *this;
  }
  /// Requires a multiple of `n` elements. `n` must be a power of two.
  constexpr padding& align(std::size_t n) {
    if (!std::has_single_bit(n)) fail(not_power_of_two, n);
    if (n > alignment_) alignment_ = n;
    return *this;
  }
  /// Requires a multiple of `n` bytes, for any element size. `n` must be a power of two. On
  /// the fastest axis this aligns the start of every row.
  constexpr padding& align_bytes(std::size_t n) {
    if (!std::has_single_bit(n)) fail(not_power_of_two, n);
    if (n > byte_alignment_) byte_alignment_ = n;
    return *this;
  }
  /// Aligns rows to 128 bytes, the size of a GPU's memory transaction, so that accesses coalesce.
  constexpr padding& coalesced() { return align_bytes(128); }
  /// Requires exactly `n` elements.
  constexpr padding& exactly(std::size_t n) {
    if (has_exact_ && exact_ != n) {
      fail("a second exact padded extent is set: {}; use one", n);
    }
    has_exact_ = true;
    exact_ = n;
    return *this;
  }

  /// Returns the alignment in bytes that the start of the memory needs, so that rows are aligned.
  constexpr std::size_t byte_alignment() const noexcept { return byte_alignment_; }

  /// Returns a padding with the constraints of `a` and of `b`.
  /// @throws layout_error if both have an exact extent and these differ, or if there are more than
  ///   four different roundings
  friend constexpr padding operator&(padding a, padding const& b) {
    for (std::size_t i = 0; i < b.roundings_; ++i) a.round_to(b.rounding_[i]);
    a.at_least(b.minimum_).align(b.alignment_).align_bytes(b.byte_alignment_);
    return b.has_exact_ ? a.exactly(b.exact_) : a;
  }

  /// Returns the smallest padded extent that satisfies all constraints.
  /// @param unpadded the extent of the array, in elements
  /// @param element_size in bytes
  /// @throws layout_error if the exact extent contradicts another constraint
  /// @throws shape_error if the padded extent overflows
  constexpr std::size_t extent(std::size_t unpadded, std::size_t element_size) const {
    std::size_t minimum = unpadded > minimum_ ? unpadded : minimum_;
    for (std::size_t i = 0; i < roundings_; ++i) {
      std::size_t const rounded = round_up(unpadded, rounding_[i]);
      if (rounded > minimum) minimum = rounded;
    }
    // Both are powers of two, so the larger is a multiple of the smaller.
    std::size_t const elements = byte_alignment_ / std::gcd(byte_alignment_, element_size);
    std::size_t const multiple = alignment_ > elements ? alignment_ : elements;
    if (!has_exact_) return round_up(minimum, multiple);
    if (exact_ < minimum || exact_ % multiple != 0) {
      detail::throw_layout_error(
          "incompatible padding: exact extent {}, but the other constraints "
          "need at least {} and a multiple of {}; change one of them",
          exact_, minimum, multiple);
    }
    return exact_;
  }

 private:
  static constexpr std::size_t max_roundings = 4;
  static constexpr char const* not_power_of_two =
      "padding alignment is not a power of two: {}; use a power of two";

  static constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
    std::size_t const rest = value % multiple;
    if (rest == 0) return value;
    if (multiple > layout::detail::max_bytes || value > layout::detail::max_bytes - multiple) {
      detail::throw_shape_error(
          "padded extent overflows: {} rounded up to a multiple of {}; use weaker constraints",
          value, multiple);
    }
    return value + (multiple - rest);
  }

  [[noreturn]] static void fail(char const* format, std::size_t value) {
    detail::throw_layout_error(format, value);
  }

  std::size_t minimum_ = 0;
  std::size_t alignment_ = 1;  // in elements
  std::size_t byte_alignment_ = 1;
  std::size_t exact_ = 0;  // used if has_exact_
  bool has_exact_ = false;
  std::size_t roundings_ = 0;  // number of used elements of rounding_
  std::array<std::size_t, max_roundings> rounding_{};
};

/// The padding of all axes (katsdpsigproc: `padded_shape`): padded<2>{10, 128} is a padded shape;
/// padded<2>{padding(), padding().coalesced()} are constraints.
template <std::size_t N>
struct padded {
  std::array<padding, N> axes{};  ///< one for each axis

  /// Creates an object without padding on any axis.
  constexpr padded() = default;
  /// Creates an object from the padding of each axis.
  ///
  /// @param paddings one for each axis: a padding, or a padded extent in elements
  template <class... P>
    requires(sizeof...(P) == N && (std::convertible_to<P, padding> && ...))
  constexpr padded(P... paddings) : axes{padding(paddings)...} {}

  /// Returns the padded extents of an array.
  /// @param element_size in bytes
  /// @throws layout_error, shape_error as padding::extent does
  constexpr roc::shape<N> extents(roc::shape<N> const& shape, std::size_t element_size) const {
    roc::shape<N> result{};
    for (std::size_t i = 0; i < N; ++i) result[i] = axes[i].extent(shape[i], element_size);
    return result;
  }
  /// Returns the alignment in bytes that the start of the memory needs.
  constexpr std::size_t byte_alignment() const noexcept {
    std::size_t result = 1;
    for (padding const& axis : axes) {
      if (axis.byte_alignment() > result) result = axis.byte_alignment();
    }
    return result;
  }
};

}  // namespace roc
