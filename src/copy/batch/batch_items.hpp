// SPDX-License-Identifier: MIT
// What the kernel of a batch is told to do for a part of a copy.
#pragma once

#include <cstddef>

#include "kernels/batch_item.hpp"
#include "copy/batch/batch.hpp"
#include "copy/staging/pack.hpp"

namespace roc::transfer {

/// The sides that lie in staging memory, packed; null: neither, or that one.
struct packed_sides {
  std::byte* source;
  std::byte* destination;
};

/// A few threads move that much with few accesses each, and there are enough items for all threads.
inline constexpr std::size_t item_bytes = 4096;

/// The most items that describe so many bytes of a copy with axes, or of any.
std::size_t most_items_of_rows(batch const& contents, batch_copy const& piece,
                               std::size_t bytes) noexcept;
inline std::size_t most_items(batch const& contents, batch_copy const& piece,
                              std::size_t bytes) noexcept {
  if (piece.rank != 0) [[unlikely]] return most_items_of_rows(contents, piece, bytes);
  return (bytes + item_bytes - 1) / item_bytes;
}

/// Writes the items of a part; returns the place behind the last.
kernels::batch_item* describe(batch const& contents, batch_copy const& of, layout::packed_range part,
                              packed_sides packed, kernels::batch_item* items) noexcept;

}  // namespace roc::transfer
