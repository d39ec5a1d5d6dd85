// SPDX-License-Identifier: MIT
// The beginning of a communicator. Included by roc/interop/mpi.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <roc/detail/throw.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/options.hpp>
#include <roc/interop/mpi/progress.hpp>

namespace roc::detail {

/// Makes the sizes of chunks equal in all ranks. Throws mpi_error in all ranks if an option of
/// one is out of range.
inline void agree_on_options(mpi_state& state, mpi_options const& options) {
  bool const is_valid = options.chunk >= 256 && options.chunk <= (std::size_t{1} << 30) &&
                        options.inline_limit <= (std::size_t{1} << 20) &&
                        options.time_limit.count() >= 0;
  std::array<std::uint64_t, 3> const own{options.chunk, options.inline_limit, is_valid ? 1U : 0U};
  std::array<std::uint64_t, 3> least{};
  check_mpi(MPI_Allreduce(own.data(), least.data(), static_cast<int>(own.size()), MPI_UINT64_T,
                          MPI_MIN, state.messages),
            "MPI_Allreduce");
  if (least[2] == 0) {
    throw mpi_error(
        "options out of range in some rank: chunk must be 256 bytes to 1 GiB, "
        "inline_limit at most 1 MiB, and time_limit 0 or more; in this rank they are " +
        std::to_string(options.chunk) + ", " + std::to_string(options.inline_limit) + " and " +
        std::to_string(options.time_limit.count()) + " ms");
  }
  state.chunk_bytes = static_cast<std::size_t>(least[0]);
  state.inline_bytes = static_cast<std::size_t>(least[1]);
}

/// Returns the state of a new communicator: duplicates of `communicator`, and its options.
/// Collective. Throws as the constructor of mpi_communicator.
inline std::shared_ptr<mpi_state> connect_mpi(MPI_Comm communicator, mpi_options const& options) {
  if (!is_mpi_running()) {
    throw_lifetime_error(
        "MPI is not running: call MPI_Init before the first communicator is created, and destroy "
        "communicators before MPI_Finalize");
  }
  if (communicator == MPI_COMM_NULL) {
    throw mpi_error("the communicator is MPI_COMM_NULL; this rank is not in its group");
  }
  auto state = std::make_shared<mpi_state>();
  check_mpi(MPI_Query_thread(&state->thread_level), "MPI_Query_thread");
  state->check_usable();
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(communicator, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0) {
    throw mpi_error(
        "the communicator is an intercommunicator; merge its groups with "
        "MPI_Intercomm_merge");
  }
  for (MPI_Comm* const duplicate : {&state->messages, &state->chunks}) {
    check_mpi(MPI_Comm_dup(communicator, duplicate), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(*duplicate, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  check_mpi(MPI_Comm_rank(state->messages, &state->rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(state->messages, &state->size), "MPI_Comm_size");
  void* largest_tag = nullptr;
  int has_largest_tag = 0;
  check_mpi(MPI_Comm_get_attr(state->chunks, MPI_TAG_UB, &largest_tag, &has_largest_tag),
            "MPI_Comm_get_attr");
  if (has_largest_tag != 0) state->largest_tag = *static_cast<int*>(largest_tag);
  agree_on_options(*state, options);
  state->time_limit = options.time_limit;
  state->device_pointers =
      !state->has_time_limit() &&
      (options.device_memory == mpi_device_memory::direct ||
       (options.device_memory == mpi_device_memory::ask && mpi_takes_device_pointers()));
  return state;
}

}  // namespace roc::detail
