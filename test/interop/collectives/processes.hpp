// SPDX-License-Identifier: MIT
// The processes of a test of collectives over MPI. Defined by mpi_processes.cpp.
#pragma once

#include <roc/device.hpp>
#include <roc/interop/mpi.hpp>

namespace roc::test {

/// Returns the communicator of all processes.
mpi_communicator& world_communicator();
/// Returns the number of this process.
inline int own_rank() { return world_communicator().rank(); }
/// Returns the device of this process: no other process on the machine has it, if there are enough.
inline device own_device() { return device(own_rank() % device::count()); }

}  // namespace roc::test
