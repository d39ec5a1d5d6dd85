// SPDX-License-Identifier: MIT
// Runs the blocks of a kernel's grid on the CPU, concurrently on the shared threads.
#pragma once

#include <cstddef>

#include "platform/host/grid_launch.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {

/// Returns the largest shared memory of a block in bytes, static and dynamic: that of AMD's
/// devices, or that of large devices of NVIDIA if their rules apply (ROCARRAY_HOST_EMULATE).
inline std::size_t max_shared_bytes() { return emulates_rocm() ? 64 * 1024 : 227 * 1024; }

/// Allocates the memory with which one thread of the system can run all blocks of the grid, one
/// after another, so that the call that enqueues the grid fails if there is no memory. Stacks for
/// the threads of a block are allocated only if the kernel has shared memory: others rarely wait.
/// Throws std::bad_alloc.
void reserve_runner(grid_launch const& launch);

/// Runs all blocks of the grid, for which reserve_runner was called. Blocks until they are done.
/// Ends the process if threads without shared memory wait, and there is no memory for their stacks:
/// there is no caller that could be told.
void run_grid(grid_launch const& launch);

}  // namespace roc::host_hip
