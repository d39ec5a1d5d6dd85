// SPDX-License-Identifier: MIT
#include "heat_kernels.hpp"

#include "heat_functors.hpp"

void enqueue_initial_heat(roc::stream_ref stream, roc::device_view<double, 3> to,
                          cell_box const& cells, roc::shape<3> const& offset,
                          roc::shape<3> const& grid) {
  set_initial_heat const f{
      to, {offset[0], offset[1], offset[2]}, {grid[0], grid[1], grid[2]}, heat_wave_1, heat_wave_2};
  roc::for_each(stream, cells.begin, cells.end, f);
}

void enqueue_interior_step(roc::stream_ref stream, roc::device_view<double const, 3> from,
                           roc::device_view<double, 3> to, cell_box const& cells) {
  // Near cells read the same neighbors.
  roc::for_each(stream, cells.begin, cells.end, heat_step{from, to}, roc::block_shape<2, 4, 32>{});
}

void enqueue_layer_step(roc::stream_ref stream, roc::device_view<double const, 3> from,
                        roc::device_view<double, 3> to, cell_box const& cells) {
  // The default blocks are full whichever axis is one cell thick.
  roc::for_each(stream, cells.begin, cells.end, heat_step{from, to});
}
