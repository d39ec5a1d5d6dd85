// SPDX-License-Identifier: MIT
// Distributes the devices of each machine over its ranks.
#pragma once

#include <mpi.h>
#include <roc/roc.hpp>

/// Makes a device current: the first one in the first rank of a machine, the second one in the
/// second rank, and so on, beginning again after the last device. Collective.
inline void choose_device(MPI_Comm communicator) {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int rank = 0;
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_free(&machine);
  roc::device(rank % roc::device::count()).make_current();
}
