// SPDX-License-Identifier: MIT
// Padding: extents of the memory that are larger than those of the array, negotiated from demands.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <numeric>

#include <roc/detail/throw.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// What is demanded of one axis's padded extent, in the spirit of katsdpsigproc's `Dimension`.
/// Every demand adds to those before; `a & b` is what satisfies both. A demand that is none
/// (rounding to 0, alignment to what is no power of two, a second exact extent, a fifth different
/// rounding) throws layout_error at once, demands that no extent satisfies when an array is made.
class padding {
 public:
  /// None: the extent itself.
  constexpr padding() = default;
  /// This padded extent and no other.
  template <std::integral I>
  constexpr padding(I extent) {  // NOLINT: implicit, so that padded<2>{10, 128} reads as a shape
    exactly(static_cast<std::size_t>(extent));
  }

  /// Room for the extent rounded up to a multiple of `n` elements: for kernels that work on blocks.
  constexpr padding& round_to(std::size_t n) {
    if (n == 0) refuse(": round to 1 or more", n);
    // The larger result satisfies both, and which that is depends on the extent.
    for (std::size_t i = 0; i < roundings_; ++i) {
      if (rounding_[i] == n) return *this;
    }
    if (roundings_ == most_roundings) refuse(": too many different roundings", n);
    rounding_[roundings_++] = n;
    return *this;
  }
  /// At least `n` elements.
  constexpr padding& at_least(std::size_t n) {
    if (n > least_) least_ = n;
    return *this;
  }
  /// A multiple of `n` elements, a power of two.
  constexpr padding& align(std::size_t n) {
    if (!std::has_single_bit(n)) refuse(": align to a power of two", n);
    if (n > alignment_) alignment_ = n;
    return *this;
  }
  /// A multiple of `n` bytes, a power of two, whatever the element's size: of the fastest axis, so
  /// that each row begins at such an address.
  constexpr padding& align_bytes(std::size_t n) {
    if (!std::has_single_bit(n)) refuse(": align to a power of two", n);
    if (n > byte_alignment_) byte_alignment_ = n;
    return *this;
  }
  /// Rows that begin at multiples of 128 bytes, what a GPU reads at once, so that accesses
  /// coalesce.
  constexpr padding& coalesced() { return align_bytes(128); }
  /// `n` elements exactly.
  constexpr padding& exactly(std::size_t n) {
    if (has_exact_ && exact_ != n) refuse(": another exact extent is demanded", n);
    has_exact_ = true;
    exact_ = n;
    return *this;
  }

  /// Bytes that the memory must begin at a multiple of, for rows to do so.
  constexpr std::size_t byte_alignment() const noexcept { return byte_alignment_; }

  /// What satisfies both. Throws layout_error where that cannot be.
  friend constexpr padding operator&(padding a, padding const& b) {
    for (std::size_t i = 0; i < b.roundings_; ++i) a.round_to(b.rounding_[i]);
    a.at_least(b.least_).align(b.alignment_).align_bytes(b.byte_alignment_);
    return b.has_exact_ ? a.exactly(b.exact_) : a;
  }

  /// The least padded extent that satisfies all. Throws layout_error where the exact one does not,
  /// shape_error where it overflows.
  constexpr std::size_t extent(std::size_t of, std::size_t element_size) const {
    std::size_t result = of > least_ ? of : least_;
    for (std::size_t i = 0; i < roundings_; ++i) {
      std::size_t const rounded = up(of, rounding_[i]);
      if (rounded > result) result = rounded;
    }
    // Powers of two: the larger is a multiple of the other.
    std::size_t const by_bytes = byte_alignment_ / std::gcd(byte_alignment_, element_size);
    std::size_t const multiple = alignment_ > by_bytes ? alignment_ : by_bytes;
    if (!has_exact_) return up(result, multiple);
    if (exact_ < result || exact_ % multiple != 0) refuse_exact(result, multiple);
    return exact_;
  }

 private:
  static constexpr std::size_t most_roundings = 4;

  static constexpr std::size_t up(std::size_t value, std::size_t multiple) {
    std::size_t const rest = value % multiple;
    if (rest == 0) return value;
    if (value > layout::detail::most_bytes - multiple) {
      layout::detail::throw_shape("the padded extent of ", roc::shape<1>{value},
                                  " overflows: demand less");
    }
    return value + (multiple - rest);
  }

  [[noreturn]] static void refuse(char const* advice, std::size_t n) {
    auto const value = static_cast<std::ptrdiff_t>(n);
    detail::throw_layout_error("padding by ", {&value, 1}, "", {}, advice);
  }
  [[noreturn]] void refuse_exact(std::size_t least, std::size_t multiple) const {
    auto const exact = static_cast<std::ptrdiff_t>(exact_);
    std::ptrdiff_t const needs[2] = {static_cast<std::ptrdiff_t>(least),
                                     static_cast<std::ptrdiff_t>(multiple)};
    detail::throw_layout_error("incompatible padding: the extent must be ", {&exact, 1},
                               ", and (at least, a multiple of) ", {needs, 2},
                               ": demand one that is both");
  }

  std::size_t least_ = 0;
  std::size_t alignment_ = 1;
  std::size_t byte_alignment_ = 1;
  std::size_t exact_ = 0;
  bool has_exact_ = false;
  std::size_t roundings_ = 0;
  std::array<std::size_t, most_roundings> rounding_{};
};

/// The padding of every axis: padded<2>{10, 128} for a padded shape, or
/// padded<2>{padding(), padding().coalesced()} for demands (katsdpsigproc: `padded_shape`).
template <std::size_t N>
struct padded {
  std::array<padding, N> axes{};  ///< one for each axis

  constexpr padded() = default;  ///< none
  /// One for each axis: a padding, or a padded extent.
  template <class... P>
    requires(sizeof...(P) == N && (std::convertible_to<P, padding> && ...))
  constexpr padded(P... each) : axes{padding(each)...} {}

  /// The padded extents of an array of this shape. Throws layout_error, shape_error: see padding.
  constexpr roc::shape<N> extents(roc::shape<N> const& shape, std::size_t element_size) const {
    roc::shape<N> result{};
    for (std::size_t i = 0; i < N; ++i) result[i] = axes[i].extent(shape[i], element_size);
    return result;
  }
  /// Bytes that the memory must begin at a multiple of.
  constexpr std::size_t byte_alignment() const noexcept {
    std::size_t result = 1;
    for (padding const& each : axes) {
      if (each.byte_alignment() > result) result = each.byte_alignment();
    }
    return result;
  }
};

}  // namespace roc
