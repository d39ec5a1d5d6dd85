// SPDX-License-Identifier: MIT
// Checks of the arguments of MPI operations. Included by roc/interop/mpi.hpp.
#pragma once

#include <cstddef>
#include <string>

#include <roc/copy.hpp>
#include <roc/error.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/operand.hpp>
#include <roc/interop/mpi/progress.hpp>

namespace roc::detail {

/// Throws mpi_error if a rank or tag is invalid.
inline void check_mpi_peer(mpi_state const& state, int peer, bool is_any_allowed, int tag) {
  bool const is_special = peer == MPI_PROC_NULL || (is_any_allowed && peer == MPI_ANY_SOURCE);
  if (!is_special && (peer < 0 || peer >= state.size)) {
    throw mpi_error("there is no rank " + std::to_string(peer) + " among " +
                    std::to_string(state.size) + "; pass 0 to " + std::to_string(state.size - 1));
  }
  if (is_any_allowed && tag == MPI_ANY_TAG) return;
  if (tag < 0 || tag > state.largest_tag) {
    throw mpi_error("tag " + std::to_string(tag) + " is out of range; pass 0 to " +
                    std::to_string(state.largest_tag));
  }
}

/// Throws shape_error if `whole` does not consist of one `block` for each rank along its first
/// axis.
inline void check_mpi_blocks(mpi_operand const& whole, mpi_operand const& block,
                             std::size_t ranks) {
  bool const is_stacked = whole.rank == block.rank + 1;
  bool is_valid = whole.element_size == block.element_size && whole.kind == block.kind &&
                  (is_stacked || (whole.rank == block.rank && block.rank != 0));
  if (is_valid) {
    is_valid = whole.shape[0] == (is_stacked ? ranks : ranks * block.shape[0]);
    for (std::size_t i = 1; i < whole.rank; ++i) {
      is_valid = is_valid && whole.shape[i] == block.shape[is_stacked ? i - 1 : i];
    }
  }
  if (is_valid) return;
  throw shape_error("incompatible shape: the array of all ranks is " + whole.shape_text() + " of " +
                    mpi_type_name(whole.kind, whole.element_size) + ", that of each of " +
                    std::to_string(ranks) + " ranks is " + block.shape_text() + " of " +
                    mpi_type_name(block.kind, block.element_size) +
                    "; its first axis must have a block for each rank");
}
/// Throws overlap_error if two arrays share memory; exact if their shapes are equal, otherwise
/// also if the ranges of their addresses overlap.
inline void check_mpi_disjoint(mpi_operand const& from, mpi_operand const& to) {
  if (from.space != to.space || from.count == 0 || to.count == 0) return;
  if (from.element_size == to.element_size && from.rank == to.rank && from.shape == to.shape) {
    static_cast<void>(planned_path(from.region(), to.region()));
    return;
  }
  auto const [from_low, from_high] = from.address_range();
  auto const [to_low, to_high] = to.address_range();
  if (from_low < to_high && to_low < from_high) {
    throw overlap_error(
        "the arrays to send and to receive overlap in memory; use a copy of one of them");
  }
}

/// Throws shape_error if shapes or element types of an operation's two arrays differ.
inline void check_mpi_equal_shapes(mpi_operand const& from, mpi_operand const& to) {
  if (from.kind != to.kind || from.element_size != to.element_size) {
    throw shape_error("incompatible element types: from " +
                      mpi_type_name(from.kind, from.element_size) + ", to " +
                      mpi_type_name(to.kind, to.element_size) + "; pass equal types");
  }
  if (from.rank == to.rank && from.shape == to.shape) return;
  throw shape_error("incompatible shape: from " + from.shape_text() + ", to " + to.shape_text() +
                    "; pass arrays of equal shape");
}

}  // namespace roc::detail
