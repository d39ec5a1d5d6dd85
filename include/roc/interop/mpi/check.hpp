// SPDX-License-Identifier: MIT
// Checks of the arguments of MPI operations. Included by roc/interop/mpi.hpp.
#pragma once

#include <cstddef>
#include <string>

#include <roc/detail/array_operand.hpp>
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
  bool const is_valid = whole.element_size == block.element_size && whole.kind == block.kind &&
                        has_block_of_each_rank(whole, block, ranks);
  if (is_valid) return;
  throw shape_error("incompatible shape: the array of all ranks is " + whole.shape_text() + " of " +
                    mpi_type_name(whole.kind, whole.element_size) + ", that of each of " +
                    std::to_string(ranks) + " ranks is " + block.shape_text() + " of " +
                    mpi_type_name(block.kind, block.element_size) +
                    "; its first axis must have a block for each rank");
}

/// Throws shape_error if shapes or element types of an operation's two arrays differ.
inline void check_mpi_equal_shapes(mpi_operand const& from, mpi_operand const& to) {
  if (from.kind != to.kind || from.element_size != to.element_size) {
    throw shape_error("incompatible element types: from " +
                      mpi_type_name(from.kind, from.element_size) + ", to " +
                      mpi_type_name(to.kind, to.element_size) + "; pass equal types");
  }
  check_equal_shapes(from, to);
}

}  // namespace roc::detail
