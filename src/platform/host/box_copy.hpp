// SPDX-License-Identifier: MIT
// Copies and fills of bytes whose addresses are already checked. Large ones are divided among
// several threads.
#pragma once

#include <cstddef>

namespace roc::host_hip {

/// The source or destination of a copy: slices of rows. The copied box begins `offset` bytes after
/// the start of the memory.
struct pitched_memory {
  std::byte* data;
  std::size_t row_pitch;    // bytes from a row to the next
  std::size_t slice_pitch;  // bytes from a slice to the next
  std::size_t offset = 0;
};

struct extent {
  std::size_t width;   // bytes of a row
  std::size_t height;  // rows of a slice
  std::size_t depth;   // slices

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Copies a box, which must not be empty, from `source.data` to `destination.data`. Ignores the
/// offsets: the caller has added them to `data`. Blocks until done.
void copy_box(pitched_memory const& destination, pitched_memory const& source, extent size);
/// Sets `bytes` bytes to `value`. Blocks until done.
void fill_bytes(std::byte* data, int value, std::size_t bytes);

}  // namespace roc::host_hip
