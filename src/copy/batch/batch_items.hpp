// SPDX-License-Identifier: MIT
// The items of the batch kernel that describe a part of a copy.
#pragma once

#include <cstddef>

#include "copy/batch/batch.hpp"
#include "kernels/batch_item.hpp"

namespace roc::transfer {

/// The sides of a copy that are packed in staging memory: the address of the first packed byte, or
/// null if the side is accessed at its own address.
struct packed_sides {
  std::byte* source;
  std::byte* destination;
};

/// The maximum bytes of an item. Small, so that each thread of an item makes few accesses, and that
/// there are enough items for all threads of the device.
inline constexpr std::size_t max_item_bytes = 4096;

/// Returns an upper bound on the number of items that describe any `bytes` consecutive bytes of a
/// copy of rank 1 or more.
std::size_t max_strided_items(batch const& batch, batch_copy const& copy,
                              std::size_t bytes) noexcept;

/// Returns an upper bound on the number of items that describe any `bytes` consecutive bytes of a
/// copy.
inline std::size_t max_items(batch const& batch, batch_copy const& copy,
                             std::size_t bytes) noexcept {
  if (copy.rank != 0) [[unlikely]]
    return max_strided_items(batch, copy, bytes);
  return (bytes + max_item_bytes - 1) / max_item_bytes;
}

/// Writes the items that describe the bytes `range` of a copy to `items`, and returns the end of
/// the written items. `items` must have space for max_items(batch, copy, bytes of `range`).
kernels::batch_item* write_items(batch const& batch, batch_copy const& copy,
                                 layout::packed_range range, packed_sides packed,
                                 kernels::batch_item* items) noexcept;

}  // namespace roc::transfer
