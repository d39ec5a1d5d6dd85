// SPDX-License-Identifier: MIT
// The kernels of heat_mpi, as functions for files of the C++ compiler.
#pragma once

#include <roc/roc.hpp>

/// The cells from `begin` to before `end`.
struct cell_box {
  roc::shape<3> begin;
  roc::shape<3> end;
};

/// Enqueues the initial temperatures of a block, which has a halo of one cell around `cells`, and
/// begins at `offset` of the grid.
void enqueue_initial_heat(roc::stream_ref stream, roc::device_view<double, 3> to,
                          cell_box const& cells, roc::shape<3> const& offset,
                          roc::shape<3> const& grid);

/// Enqueues a step of the cells inside of a block.
void enqueue_interior_step(roc::stream_ref stream, roc::device_view<double const, 3> from,
                           roc::device_view<double, 3> to, cell_box const& cells);

/// Enqueues a step of a layer of cells, which is one cell thick on some axis.
void enqueue_layer_step(roc::stream_ref stream, roc::device_view<double const, 3> from,
                        roc::device_view<double, 3> to, cell_box const& cells);
