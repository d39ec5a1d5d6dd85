// SPDX-License-Identifier: MIT
// The canonical layout of a copy between strided regions. It has as few axes as possible, and
// equivalent copies have the same canonical layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <roc/detail/strided_region.hpp>

#include "base/byte_range.hpp"

namespace roc::layout {

/// The largest number of axes of a canonical layout.
inline constexpr std::size_t max_axes = 16;

/// One axis of a copy: the number of steps, and the step on either side in bytes.
struct axis {
  std::size_t extent;
  std::ptrdiff_t source;
  std::ptrdiff_t destination;
};

/// One side of a copy.
enum class side : unsigned char { source, destination };

/// Returns the step of an axis on one side, in bytes.
inline std::ptrdiff_t step_of(axis const& a, side operand) noexcept {
  return operand == side::source ? a.source : a.destination;
}
/// Returns the offset of the last step of an axis from the first on one side, in bytes.
inline std::ptrdiff_t reach_of(axis const& a, side operand) noexcept {
  return static_cast<std::ptrdiff_t>(a.extent - 1) * step_of(a, operand);
}

/// A copy of runs of `run` contiguous bytes, repeated over the axes. The outermost axis comes
/// first.
///
/// The runs have a linear order: that of the axes, with the last axis fastest. Packed memory holds
/// the runs in this order, and a packed_range counts bytes in it.
struct canonical_layout {
  std::byte const* source = nullptr;  // of the first run
  std::byte* destination = nullptr;   // of the first run
  std::size_t run = 0;
  std::size_t rank = 0;
  std::array<axis, max_axes> axes;  // the first `rank` are set; setting all would slow every copy

  /// Returns the number of bytes that are copied.
  std::size_t bytes() const noexcept {
    std::size_t total = run;
    for (std::size_t i = 0; i < rank; ++i) total *= axes[i].extent;
    return total;
  }
  /// Returns true if the given side is contiguous and holds the runs in their linear order.
  bool is_dense(side operand) const noexcept;
};

/// Returns the layout of a contiguous copy.
inline canonical_layout layout_of_run(void const* source, void* destination,
                                      std::size_t bytes) noexcept {
  canonical_layout result;
  result.source = static_cast<std::byte const*>(source);
  result.destination = static_cast<std::byte*>(destination);
  result.run = bytes;
  return result;
}

/// The bytes [begin, end) of a copy, counted in the linear order of its runs.
struct packed_range {
  std::size_t begin;
  std::size_t end;
};

/// Returns a layout that has the steps of `operand` on both sides. Axes and runs that follow each
/// other there without a gap are merged. The linear order of the bytes is kept.
canonical_layout merged_for(canonical_layout const& layout, side operand) noexcept;

/// Returns the two halves of a layout along its outermost axis. An axis of which a half has one
/// step is dropped. Precondition: rank is not 0, and the axis has at least two steps.
std::array<canonical_layout, 2> halves_of(canonical_layout const& layout) noexcept;

/// A half-open range [low, high) of byte offsets from the first run.
struct byte_span {
  std::ptrdiff_t low;
  std::ptrdiff_t high;
};
/// Returns the smallest range of offsets that contains all bytes of one side.
inline byte_span span_of(canonical_layout const& layout, side operand) noexcept {
  byte_span result{0, static_cast<std::ptrdiff_t>(layout.run)};
  for (std::size_t i = 0; i < layout.rank; ++i) {
    std::ptrdiff_t const reach = reach_of(layout.axes[i], operand);
    (reach < 0 ? result.low : result.high) += reach;
  }
  return result;
}
/// Returns the smallest range of addresses that contains all bytes of one side.
inline base::byte_range byte_range_of(canonical_layout const& layout, side operand) noexcept {
  byte_span const span = span_of(layout, operand);
  std::byte const* const origin = operand == side::source ? layout.source : layout.destination;
  return base::byte_range::of(origin + span.low, static_cast<std::size_t>(span.high - span.low));
}

/// Returns the bytes of a copy between two regions of the same shape and element size if both are
/// contiguous in C order, and so are one run, within the address space. The canonical layout of the
/// copy has no axes then. Returns 0 for all other regions. No extent may be zero.
inline std::size_t bytes_of_one_run(roc::detail::strided_region const& source,
                                    roc::detail::strided_region const& destination) noexcept {
  std::size_t elements = 1;
  for (std::size_t i = source.rank; i-- != 0;) {
    if (source.shape[i] == 1) continue;
    auto const step = static_cast<std::ptrdiff_t>(elements);
    if (source.strides[i] != step || destination.strides[i] != step) return 0;
    if (__builtin_mul_overflow(elements, source.shape[i], &elements)) return 0;
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(elements, source.element_size, &bytes)) return 0;
  if (bytes > PTRDIFF_MAX) return 0;
  auto const last = std::numeric_limits<std::uintptr_t>::max() - bytes;
  bool const is_addressable = reinterpret_cast<std::uintptr_t>(source.data) <= last &&
                              reinterpret_cast<std::uintptr_t>(destination.data) <= last;
  return is_addressable ? bytes : 0;
}

/// Returns the canonical layout of a copy between two regions of the same shape and element size.
/// No extent may be zero, and no offset of an element may exceed PTRDIFF_MAX bytes: see
/// checked_range.
///
/// Axes of extent 1 are dropped. All steps of the side `leading` are made positive, and the axes
/// are sorted by them in descending order; axes that follow each other without a gap on both sides
/// are merged. Throws layout_error if more than max_axes axes remain.
canonical_layout canonicalize(roc::detail::strided_region const& source,
                              roc::detail::strided_region const& destination, side leading);

}  // namespace roc::layout
