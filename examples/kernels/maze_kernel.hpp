// SPDX-License-Identifier: MIT
// One step of a breadth-first search: a queue of the cells of this step, one for those of the next.
#pragma once

#include <roc/device_queue.hpp>
#include <roc/kernel.hpp>
#include <roc/roc.hpp>

/// The distance of cells that were not reached.
inline constexpr unsigned unreached = ~0u;

/// Pops all cells of `current`. Sets the distance of their neighbors that were not reached to
/// `distance`, and pushes them to `next`, which must have a slot for every cell. Cells are numbered
/// in C order. Blocks of any size.
__global__ void search_step(roc::device_queue_view<unsigned> current,
                            roc::device_queue_view<unsigned> next,
                            roc::device_view<unsigned char const, 2> is_wall,
                            roc::device_view<unsigned, 2> distances, unsigned distance) {
  int const rows = static_cast<int>(is_wall.extent(0));
  int const columns = static_cast<int>(is_wall.extent(1));
  for (;;) {
    // Nothing is pushed to `current` meanwhile, so a pop fails only if it is empty.
    unsigned cell = 0;
    bool const has_cell = current.warp_pop(cell);
    if (!roc::warp_any(has_cell)) return;  // all lanes together: the next functions need all of them
    int const row = static_cast<int>(cell) / columns;
    int const column = static_cast<int>(cell) % columns;
    for (int direction = 0; direction < 4; ++direction) {
      int const i = row + (direction == 0) - (direction == 1);
      int const j = column + (direction == 2) - (direction == 3);
      bool is_new = has_cell && i >= 0 && i < rows && j >= 0 && j < columns && is_wall(i, j) == 0;
      if (is_new) is_new = atomicCAS(&distances(i, j), unreached, distance) == unreached;
      // Cannot fail: each cell is pushed once.
      static_cast<void>(next.warp_push(static_cast<unsigned>(i * columns + j), is_new));
    }
  }
}
