// SPDX-License-Identifier: MIT
// Moving and filling bytes whose places are already checked; large amounts by several threads.
#pragma once

#include <cstddef>

namespace roc::host_hip {

/// One side: rows of bytes, at a pitch, in planes; the first begins `skipped` bytes in.
struct box {
  std::byte* data;
  std::size_t pitch;
  std::size_t plane;
  std::size_t skipped = 0;
};

struct extent {
  std::size_t width;  // bytes
  std::size_t rows;
  std::size_t planes;

  bool empty() const { return width == 0 || rows == 0 || planes == 0; }
};

/// From where `from.data` points to where `to.data` does: `skipped` is in them already.
void move_box(box const& to, box const& from, extent size);
void fill(std::byte* data, int value, std::size_t bytes);

}  // namespace roc::host_hip
