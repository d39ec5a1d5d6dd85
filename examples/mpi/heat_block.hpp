// SPDX-License-Identifier: MIT
// One rank's block of a grid that is distributed over the ranks of a communicator of MPI.
#pragma once

#include <roc/interop/mpi.hpp>
#include <roc/roc.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heat_kernels.hpp"

/// A grid that is divided into as many blocks as there are ranks, also if their number is a prime.
class heat_grid {
 public:
  /// @throws std::invalid_argument if an axis has fewer cells than blocks
  heat_grid(roc::shape<3> const& cells, int ranks) : cells_(cells), blocks_(divide(cells, ranks)) {
    for (std::size_t axis = 0; axis != 3; ++axis) {
      if (cells[axis] >= static_cast<std::size_t>(blocks_[axis])) continue;
      throw std::invalid_argument("axis " + std::to_string(axis) + " has too few cells for " +
                                  std::to_string(blocks_[axis]) +
                                  " blocks: " + std::to_string(cells[axis]) +
                                  "; use a larger grid or fewer ranks");
    }
  }

  /// Returns how many blocks there are on each axis. The axis with the most cells has the most.
  static std::array<int, 3> divide(roc::shape<3> const& cells, int ranks) {
    std::array<int, 3> counts{};
    MPI_Dims_create(ranks, 3, counts.data());  // the largest count first
    std::array<std::size_t, 3> axes{0, 1, 2};
    std::stable_sort(axes.begin(), axes.end(),
                     [&](std::size_t a, std::size_t b) { return cells[a] > cells[b]; });
    std::array<int, 3> blocks{};
    for (std::size_t i = 0; i != 3; ++i) blocks[axes[i]] = counts[i];
    return blocks;
  }

  roc::shape<3> const& cells() const { return cells_; }
  std::array<int, 3> const& blocks() const { return blocks_; }

  /// Returns the position of a rank's block. Ranks follow each other in C order.
  std::array<int, 3> position_of(int rank) const {
    return {rank / (blocks_[1] * blocks_[2]), rank / blocks_[2] % blocks_[1], rank % blocks_[2]};
  }
  /// Returns the rank of the block that is `distance` away on an axis; MPI_PROC_NULL outside of the
  /// grid.
  int neighbor_of(int rank, std::size_t axis, int distance) const {
    std::array<int, 3> position = position_of(rank);
    position[axis] += distance;
    if (position[axis] < 0 || position[axis] == blocks_[axis]) return MPI_PROC_NULL;
    return (position[0] * blocks_[1] + position[1]) * blocks_[2] + position[2];
  }
  /// Returns the cells of a rank's block.
  cell_box block_of(int rank) const {
    std::array<int, 3> const position = position_of(rank);
    cell_box block{};
    for (std::size_t axis = 0; axis != 3; ++axis) {
      auto const index = static_cast<std::size_t>(position[axis]);
      auto const count = static_cast<std::size_t>(blocks_[axis]);
      block.begin[axis] = cells_[axis] * index / count;
      block.end[axis] = cells_[axis] * (index + 1) / count;
    }
    return block;
  }

 private:
  roc::shape<3> cells_;
  std::array<int, 3> blocks_;
};

/// Returns the slices of a box on all axes, as indices of an array or view.
template <class X>
auto slice_of(X const& array, cell_box const& box) {
  auto const on_axis = [&](std::size_t axis) {
    return roc::slice(static_cast<std::ptrdiff_t>(box.begin[axis]),
                      static_cast<std::ptrdiff_t>(box.end[axis]));
  };
  return array(on_axis(0), on_axis(1), on_axis(2));
}

/// The block of this rank, with a halo of one cell on each side. The halo outside of the grid stays
/// zero; the others are cells of neighbors.
///
/// The cells next to a neighbor, the edges, are calculated on one stream, together with the
/// exchange; all others, the interior, are calculated on another one during the exchange.
class heat_block {
 public:
  /// Sets the cells to the initial temperatures. The block is on the current device. Collective.
  heat_block(MPI_Comm communicator, heat_grid const& grid)
      : comm_(communicator),
        grid_(grid),
        edge_(roc::device().stream_priorities().greatest),
        now_(shape_with_halo(), roc::order::c, inner_),
        next_(shape_with_halo(), roc::order::c, inner_) {
    cell_box const block = grid_.block_of(comm_.rank());
    cell_box inside{};  // of the halo
    for (std::size_t axis = 0; axis != 3; ++axis) {
      inside.begin[axis] = 1;
      inside.end[axis] = block.end[axis] - block.begin[axis] + 1;
    }
    cells_ = interior_ = inside;
    for (std::size_t axis = 0; axis != 3; ++axis) {
      std::size_t const first = inside.begin[axis];
      std::size_t const last = inside.end[axis] - 1;
      add_face(axis, -1, first - 1, first);
      add_face(axis, +1, last + 1, last);
    }
    now_.zero(inner_);
    next_.zero(inner_);
    enqueue_initial_heat(inner_, now_.view(), cells_, block.begin, grid_.cells());
    inner_done_.record(inner_);
    edge_.wait(inner_done_);
    edge_done_.record(edge_);
  }

  /// Enqueues one step. Blocks until the exchange is complete. Without `overlap`, the interior is
  /// calculated after the exchange. Collective.
  void step(bool overlap) {
    // The exchange comes first, because a kernel that fills the device delays those that pack.
    std::vector<roc::mpi_request> requests;
    requests.reserve(2 * faces_.size());
    for (face const& side : faces_) {
      requests.push_back(comm_.ireceive(layer(now_, side.axis, side.halo), side.neighbor,
                                        side.tag_of_neighbor, edge_));
    }
    for (face const& side : faces_) {
      requests.push_back(
          comm_.isend(layer(now_, side.axis, side.edge), side.neighbor, side.tag, edge_));
    }
    auto const finish_exchange = [&] {
      for (roc::mpi_request& request : requests) request.wait();
    };
    if (!overlap) finish_exchange();

    inner_.wait(edge_done_);  // of the last step, because cells at the edges are read
    enqueue_interior_step(inner_, now_.view(), next_.view(), interior_);
    if (overlap) finish_exchange();  // messages proceed in this call, while the kernel runs

    edge_.wait(inner_done_);  // of the last step
    for (cell_box const& box : edges_) enqueue_layer_step(edge_, now_.view(), next_.view(), box);
    inner_done_.record(inner_);
    edge_done_.record(edge_);
    std::swap(now_, next_);
    ++steps_;
  }

  /// Blocks until all steps are done.
  void synchronize() const {
    inner_.synchronize();
    edge_.synchronize();
  }

  /// Returns the cells of this rank, without the halo. Valid until the next step.
  roc::device_view<double const, 3> cells() const { return slice_of(now_, cells_); }
  roc::mpi_communicator const& communicator() const { return comm_; }
  heat_grid const& grid() const { return grid_; }
  /// Returns the number of steps since the beginning.
  int steps() const { return steps_; }

 private:
  /// A side with a neighbor.
  struct face {
    std::size_t axis;
    int neighbor;         // its rank
    std::size_t halo;     // the index of the layer that is received
    std::size_t edge;     // the index of the layer that is sent
    int tag;              // of messages to the neighbor
    int tag_of_neighbor;  // of messages from it
  };

  roc::shape<3> shape_with_halo() const {
    cell_box const block = grid_.block_of(comm_.rank());
    roc::shape<3> shape{};
    for (std::size_t i = 0; i != 3; ++i) shape[i] = block.end[i] - block.begin[i] + 2;
    return shape;
  }

  /// Adds the side in a direction of an axis, -1 or +1, if there is a neighbor. Moves its cells
  /// from the interior to the edges; cells that are at two edges belong to the first of them.
  void add_face(std::size_t axis, int direction, std::size_t halo, std::size_t edge) {
    int const neighbor = grid_.neighbor_of(comm_.rank(), axis, direction);
    if (neighbor == MPI_PROC_NULL) return;
    int const tag = 2 * static_cast<int>(axis) + (direction > 0 ? 1 : 0);
    faces_.push_back({axis, neighbor, halo, edge, tag, tag ^ 1});
    if (interior_.begin[axis] == interior_.end[axis]) return;  // one layer, at both edges
    cell_box box = interior_;
    box.begin[axis] = edge;
    box.end[axis] = edge + 1;
    edges_.push_back(box);
    if (direction < 0) {
      ++interior_.begin[axis];
    } else {
      --interior_.end[axis];
    }
  }

  /// Returns a layer of the block, without the halo on the other axes.
  roc::device_view<double, 3> layer(roc::device_array<double, 3> const& array, std::size_t axis,
                                    std::size_t index) const {
    cell_box box = cells_;
    box.begin[axis] = index;
    box.end[axis] = index + 1;
    return slice_of(array, box);
  }

  roc::mpi_communicator comm_;
  heat_grid grid_;
  std::vector<face> faces_;
  cell_box cells_{};     // all, by the indices of the arrays
  cell_box interior_{};  // those that need no neighbor
  std::vector<cell_box> edges_;
  roc::stream inner_;
  roc::stream edge_;
  roc::event inner_done_, edge_done_;  // the last step, on each stream
  roc::device_array<double, 3> now_, next_;
  int steps_ = 0;
};
