// SPDX-License-Identifier: MIT
// The collective operations, by the functions of MPI that they call for each chunk. Included by
// roc/interop/mpi.hpp.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <roc/error.hpp>
#include <roc/interop/mpi/check.hpp>
#include <roc/interop/mpi/collective.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/operand.hpp>
#include <roc/interop/mpi/progress.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Begins a collective operation. `add` adds the memory of this rank, and may throw if the
/// arguments are invalid. If `add` or mpi_order throws, the other ranks throw too. Throws as
/// mpi_state::lock.
template <class Add>
std::shared_ptr<mpi_operation> begin_mpi_collective(mpi_state& state,
                                                    mpi_agreement const& agreement,
                                                    stream_ref const* stream, MPI_Datatype reduced,
                                                    mpi_collective_operation::call call,
                                                    char const* call_name, Add add) {
  std::exception_ptr invalid;
  mpi_order order;
  try {
    order = mpi_order(stream);
  } catch (...) {
    invalid = std::current_exception();
  }
  auto operation = std::make_shared<mpi_collective_operation>(state, agreement, order, reduced,
                                                              std::move(call), call_name);
  auto const held = state.lock();
  state.check_no_abandoned_collective();
  try {
    if (invalid) std::rethrow_exception(invalid);
    if (agreement.root < 0 || agreement.root >= state.size) {
      throw mpi_error("there is no rank " + std::to_string(agreement.root) + " among " +
                      std::to_string(state.size) + "; pass 0 to " + std::to_string(state.size - 1) +
                      " as root");
    }
    add(*operation);
    operation->pack();
  } catch (...) {
    invalid = std::current_exception();
  }
  operation->begin(std::move(invalid));
  state.add_locked(operation);
  return operation;
}

// Each of these functions begins the operation of mpi_communicator that has its name, and throws as
// that does before data moves.

inline std::shared_ptr<mpi_operation> begin_mpi_broadcast(mpi_state& state,
                                                          mpi_operand const& array, int root,
                                                          stream_ref const* stream) {
  MPI_Comm const communicator = state.messages;
  auto const call = [root, communicator](mpi_chunk_memory const&, mpi_chunk_memory const& to,
                                         MPI_Request* request) {
    return request != nullptr ? MPI_Ibcast(to.data, to.count, to.type, root, communicator, request)
                              : MPI_Bcast(to.data, to.count, to.type, root, communicator);
  };
  return begin_mpi_collective(
      state, {mpi_collective_kind::broadcast, root, array, 0}, stream, MPI_DATATYPE_NULL, call,
      "MPI_Bcast", [&](mpi_collective_operation& operation) {
        check_mpi_argument(array);
        operation.add_destination(array, 1, state.rank == root, state.rank != root);
      });
}

/// Throws shape_error if the root has no array for the elements of all ranks.
inline void check_mpi_root_array(std::optional<mpi_operand> const& array, bool is_root) {
  if (is_root && !array) {
    throw shape_error("the root needs an array with the elements of all ranks; pass it");
  }
}

inline std::shared_ptr<mpi_operation> begin_mpi_gather(mpi_state& state, mpi_operand const& from,
                                                       std::optional<mpi_operand> const& to,
                                                       int root, stream_ref const* stream) {
  MPI_Comm const communicator = state.messages;
  auto const ranks = static_cast<std::size_t>(state.size);
  auto const call = [root, communicator](mpi_chunk_memory const& from_memory,
                                         mpi_chunk_memory const& to_memory, MPI_Request* request) {
    return request != nullptr
               ? MPI_Igather(from_memory.data, from_memory.count, from_memory.type, to_memory.data,
                             to_memory.count, to_memory.type, root, communicator, request)
               : MPI_Gather(from_memory.data, from_memory.count, from_memory.type, to_memory.data,
                            to_memory.count, to_memory.type, root, communicator);
  };
  return begin_mpi_collective(state, {mpi_collective_kind::gather, root, from, 0}, stream,
                              MPI_DATATYPE_NULL, call, "MPI_Gather",
                              [&](mpi_collective_operation& operation) {
                                check_mpi_argument(from);
                                check_mpi_root_array(to, state.rank == root);
                                if (to) {
                                  check_mpi_argument(*to);
                                  check_mpi_blocks(*to, from, ranks);
                                  check_disjoint(from, *to);
                                }
                                operation.add_source(from, 1);
                                if (to) operation.add_destination(*to, ranks);
                              });
}

inline std::shared_ptr<mpi_operation> begin_mpi_scatter(mpi_state& state,
                                                        std::optional<mpi_operand> const& from,
                                                        mpi_operand const& to, int root,
                                                        stream_ref const* stream) {
  MPI_Comm const communicator = state.messages;
  auto const ranks = static_cast<std::size_t>(state.size);
  auto const call = [root, communicator](mpi_chunk_memory const& from_memory,
                                         mpi_chunk_memory const& to_memory, MPI_Request* request) {
    return request != nullptr
               ? MPI_Iscatter(from_memory.data, from_memory.count, from_memory.type, to_memory.data,
                              to_memory.count, to_memory.type, root, communicator, request)
               : MPI_Scatter(from_memory.data, from_memory.count, from_memory.type, to_memory.data,
                             to_memory.count, to_memory.type, root, communicator);
  };
  return begin_mpi_collective(state, {mpi_collective_kind::scatter, root, to, 0}, stream,
                              MPI_DATATYPE_NULL, call, "MPI_Scatter",
                              [&](mpi_collective_operation& operation) {
                                check_mpi_argument(to);
                                check_mpi_root_array(from, state.rank == root);
                                if (from) {
                                  check_mpi_argument(*from);
                                  check_mpi_blocks(*from, to, ranks);
                                  check_disjoint(*from, to);
                                }
                                if (from) operation.add_source(*from, ranks);
                                operation.add_destination(to, 1);
                              });
}

inline std::shared_ptr<mpi_operation> begin_mpi_all_reduce(mpi_state& state, MPI_Datatype type,
                                                           std::optional<mpi_operand> const& from,
                                                           mpi_operand const& to, MPI_Op reduction,
                                                           stream_ref const* stream) {
  MPI_Comm const communicator = state.messages;
  auto const call = [reduction, communicator](mpi_chunk_memory const& from_memory,
                                              mpi_chunk_memory const& to_memory,
                                              MPI_Request* request) {
    void const* const source = from_memory.data == nullptr ? MPI_IN_PLACE : from_memory.data;
    return request != nullptr ? MPI_Iallreduce(source, to_memory.data, to_memory.count,
                                               to_memory.type, reduction, communicator, request)
                              : MPI_Allreduce(source, to_memory.data, to_memory.count,
                                              to_memory.type, reduction, communicator);
  };
  return begin_mpi_collective(
      state, {mpi_collective_kind::all_reduce, 0, to, mpi_operation_number(reduction)}, stream,
      type, call, "MPI_Allreduce", [&](mpi_collective_operation& operation) {
        check_mpi_argument(to);
        if (from) {
          check_mpi_argument(*from);
          check_mpi_equal_shapes(*from, to);
          check_disjoint(*from, to);
          operation.add_source(*from, 1);
        }
        operation.add_destination(to, 1, !from);
      });
}

inline std::shared_ptr<mpi_operation> begin_mpi_all_to_all(mpi_state& state,
                                                           mpi_operand const& from,
                                                           mpi_operand const& to,
                                                           stream_ref const* stream) {
  MPI_Comm const communicator = state.messages;
  auto const ranks = static_cast<std::size_t>(state.size);
  auto const call = [communicator](mpi_chunk_memory const& from_memory,
                                   mpi_chunk_memory const& to_memory, MPI_Request* request) {
    return request != nullptr
               ? MPI_Ialltoall(from_memory.data, from_memory.count, from_memory.type,
                               to_memory.data, to_memory.count, to_memory.type, communicator,
                               request)
               : MPI_Alltoall(from_memory.data, from_memory.count, from_memory.type, to_memory.data,
                              to_memory.count, to_memory.type, communicator);
  };
  mpi_operand block = from;
  if (block.rank != 0) {
    block.shape[0] /= ranks;
    block.count /= ranks;
  }
  return begin_mpi_collective(
      state, {mpi_collective_kind::all_to_all, 0, block, 0}, stream, MPI_DATATYPE_NULL, call,
      "MPI_Alltoall", [&](mpi_collective_operation& operation) {
        check_mpi_argument(from);
        check_mpi_argument(to);
        if (from.rank == 0 || from.shape[0] % ranks != 0) {
          throw shape_error("incompatible shape: array " + from.shape_text() + " for " +
                            std::to_string(ranks) +
                            " ranks; its first extent must be a multiple of their number");
        }
        check_mpi_equal_shapes(from, to);
        check_disjoint(from, to);
        operation.add_source(from, ranks);
        operation.add_destination(to, ranks);
      });
}

}  // namespace roc::detail
