// SPDX-License-Identifier: MIT
// A copy without what does not matter to it: unit axes dropped, steps turned, axes sorted and
// merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <roc/detail/region.hpp>

#include "base/byte_range.hpp"

namespace roc::layout {

/// The most axes that a copy may have left after merging.
inline constexpr std::size_t max_axes = 16;

/// One axis: its length and the steps on both sides, in bytes.
struct axis {
  std::size_t extent;
  std::ptrdiff_t source;
  std::ptrdiff_t destination;
};

/// Which side's memory order the axes follow.
enum class side : unsigned char { source, destination };

/// Runs of `run` contiguous bytes, repeated over the axes, outermost first. The linear order of the
/// runs over the axes is what packing and chunking follow.
struct canonical_layout {
  std::byte const* source = nullptr;
  std::byte* destination = nullptr;
  std::size_t run = 0;
  std::size_t rank = 0;
  std::array<axis, max_axes> axes;  // the first `rank`: to fill all would cost every copy

  /// All bytes that are copied.
  std::size_t bytes() const noexcept;
  /// Whether a side is one contiguous piece in the linear order.
  bool is_dense(side which) const noexcept;
};

/// Bytes [begin, end) of a copy, counted in the linear order of its runs: the order in which the
/// bytes are packed.
struct packed_range {
  std::size_t begin;
  std::size_t end;
};

/// Bytes from the base that one side touches, as the half-open range [low, high).
struct byte_span {
  std::ptrdiff_t low;
  std::ptrdiff_t high;
};
byte_span span_of(canonical_layout const& form, side which) noexcept;
/// The same as addresses.
base::byte_range bytes_of(canonical_layout const& form, side which) noexcept;

/// The normal form, its axes in the order of the memory of `leading`. The shapes are equal, no
/// extent is zero. Throws layout_error where more than max_axes axes are left.
canonical_layout canonicalize(roc::detail::region const& source, roc::detail::region const& destination,
                      side leading);

}  // namespace roc::layout
