// SPDX-License-Identifier: MIT
// One allocation of device memory for several arrays.
#pragma once

#include <concepts>
#include <cstddef>

#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/device_array.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/padding.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Bytes on the device that arrays are placed in (pyopencl: `get_sub_region`; katsdpsigproc:
/// `AliasIOSlot`). Every array owns the allocation too: it is freed when the last owner has gone.
/// Arrays may be placed over each other, to use memory twice; a copy between two that share
/// elements throws overlap_error. Move-only.
class device_allocation {
 public:
  /// On the device of the stream, or the current one. Throws out_of_memory, roc::error.
  explicit device_allocation(std::size_t bytes, stream_ref stream = {})
      : block_(new detail::device_block(detail::device_memory(bytes, stream))),
        bytes_(bytes),
        stream_(stream) {}
  /// The other has no bytes then.
  device_allocation(device_allocation&&) noexcept = default;
  /// Gives up its share of what it had.
  device_allocation& operator=(device_allocation&&) noexcept = default;

  /// 0 where it was moved from.
  std::size_t size_bytes() const noexcept { return block_ ? bytes_ : 0; }

  /// An array that begins at `offset` bytes. Throws shape_error where it ends beyond the
  /// allocation, layout_error where the offset does not suit the alignment of elements or padded
  /// rows, and as device_array.
  template <class T, std::size_t N>
  [[nodiscard]] device_array<T, N> array(std::size_t offset, shape<N> const& extents,
                                         order o = order::c) const {
    return array<T, N>(offset, extents, layout::compact_strides(extents, o));
  }
  /// With explicit strides, in elements, none negative.
  template <class T, std::size_t N>
  [[nodiscard]] device_array<T, N> array(std::size_t offset, shape<N> const& extents,
                                         strides<N> const& steps) const {
    check(offset, detail::allocation_bytes(extents, steps, sizeof(T)), alignof(T));
    return {detail::device_storage(block_), offset, extents, steps, stream_};
  }
  /// With padding; see roc::padding.
  template <class T, std::size_t N, std::same_as<padded<N>> P>
  [[nodiscard]] device_array<T, N> array(std::size_t offset, shape<N> const& extents,
                                         P const& padding, order o = order::c) const {
    auto const room = detail::padded_extents(extents, padding, sizeof(T));
    check_alignment(offset, padding.byte_alignment());
    auto result = array<T, N>(offset, room, o);
    result.pad(extents);
    return result;
  }

 private:
  void check(std::size_t offset, std::size_t bytes, std::size_t alignment) const {
    if (!block_) {
      detail::throw_lifetime_error("use of a device_allocation that was moved from");
    }
    auto const place = static_cast<std::ptrdiff_t>(offset);
    if (offset > bytes_ || bytes > bytes_ - offset) {
      std::ptrdiff_t const asked[2] = {place, static_cast<std::ptrdiff_t>(bytes)};
      auto const has = static_cast<std::ptrdiff_t>(bytes_);
      detail::throw_shape_error("array of (offset, bytes) ", {asked, 2}, " in an allocation of ",
                                {&has, 1}, ": allocate more, or place it earlier");
    }
    check_alignment(offset, alignment);
  }

  // The allocation itself begins at a multiple of 256.
  static void check_alignment(std::size_t offset, std::size_t alignment) {
    if (offset % alignment == 0) return;
    auto const place = static_cast<std::ptrdiff_t>(offset);
    auto const needed = static_cast<std::ptrdiff_t>(alignment);
    detail::throw_layout_error("array at offset ", {&place, 1}, ", alignment ", {&needed, 1},
                               ": place it at a multiple of what its elements and rows need");
  }

  detail::block_owner block_;
  std::size_t bytes_;
  stream_ref stream_;
};

}  // namespace roc
