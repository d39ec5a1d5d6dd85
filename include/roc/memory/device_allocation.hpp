// SPDX-License-Identifier: MIT
// One allocation of device memory that several arrays share.
#pragma once

#include <concepts>
#include <cstddef>

#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/device_array.hpp>
#include <roc/layout/padding.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Device memory in which arrays are placed at chosen offsets (pyopencl: `get_sub_region`;
/// katsdpsigproc: `AliasIOSlot`). Move-only.
///
/// Arrays may overlap, so that memory is used for several purposes. A copy between two arrays that
/// share elements throws overlap_error.
///
/// *Lifetime:* the allocation and its arrays own the memory together. It is freed, in stream order,
/// when the last of them is destroyed.
class device_allocation {
 public:
  /// Allocates memory on the device of the stream, or on the current one.
  /// @param bytes size in bytes
  /// @param stream the stream on which the memory is used first
  /// @throws out_of_memory, roc::error
  explicit device_allocation(std::size_t bytes, stream_ref stream = {})
      : storage_(bytes, stream), bytes_(bytes), stream_(stream) {}
  /// Leaves the source without memory.
  device_allocation(device_allocation&&) noexcept = default;
  /// Drops this object's ownership of its memory and leaves the source without memory.
  device_allocation& operator=(device_allocation&&) noexcept = default;

  /// Returns the size in bytes, or 0 if this was moved from.
  std::size_t size_bytes() const noexcept { return storage_ ? bytes_ : 0; }

  /// Returns a contiguous array in order `o` that begins at `offset`.
  /// @param offset in bytes
  /// @param extents the shape
  /// @throws shape_error if the array exceeds the allocation
  /// @throws layout_error if the offset is not aligned for T
  /// @throws lifetime_error if this was moved from
  template <class T, std::size_t N>
  [[nodiscard]] device_array<T, N> array(std::size_t offset, shape<N> const& extents,
                                         order o = order::c) const {
    return array<T, N>(offset, extents, layout::compact_strides(extents, o));
  }
  /// Returns an array with explicit strides, in elements and none negative, that begins at
  /// `offset`. Throws as the overload for contiguous arrays, and as device_array for such strides.
  template <class T, std::size_t N>
  [[nodiscard]] device_array<T, N> array(std::size_t offset, shape<N> const& extents,
                                         strides<N> const& steps) const {
    check_fits(offset, detail::allocation_bytes(extents, steps, sizeof(T)), alignof(T));
    return {storage_.share(), offset, extents, steps, stream_};
  }
  /// Returns an array with padding that begins at `offset`. Throws as the overload for contiguous
  /// arrays, and layout_error if the offset is not aligned for padded rows, or if the constraints
  /// contradict each other: see roc::padding.
  template <class T, std::size_t N, std::same_as<padded<N>> P>
  [[nodiscard]] device_array<T, N> array(std::size_t offset, shape<N> const& extents,
                                         P const& padding, order o = order::c) const {
    auto const padded_shape = detail::padded_extents(extents, padding, sizeof(T));
    check_alignment(offset, padding.byte_alignment());
    auto result = array<T, N>(offset, padded_shape, o);
    result.pad(extents);
    return result;
  }

 private:
  void check_fits(std::size_t offset, std::size_t bytes, std::size_t alignment) const {
    if (!storage_) {
      detail::throw_lifetime_error("device_allocation was moved from and cannot be used");
    }
    if (offset > bytes_ || bytes > bytes_ - offset) {
      detail::throw_shape_error(
          "array of {} bytes at offset {} exceeds the allocation of {} bytes; "
          "allocate more, or use a smaller offset",
          bytes, offset, bytes_);
    }
    check_alignment(offset, alignment);
  }

  // Only the offset needs a check: the allocation itself is aligned to 256 bytes.
  static void check_alignment(std::size_t offset, std::size_t alignment) {
    if (offset % alignment == 0) return;
    detail::throw_layout_error("offset {} is not aligned to {} bytes; use a multiple of {}", offset,
                               alignment, alignment);
  }

  detail::device_storage storage_;
  std::size_t bytes_;
  stream_ref stream_;
};

}  // namespace roc
