// SPDX-License-Identifier: MIT
// The description of a kernel launch on the CPU.
#pragma once

#include <cstddef>

#include <roc/native/host_block.hpp>

namespace roc::host_hip {

/// A kernel and the grid that it runs on.
struct grid_launch {
  host_kernels::host_kernel kernel;
  void* arguments;  // of kernel.run_thread
  host_kernels::kernel_index grid;
  host_kernels::kernel_index block;
  std::size_t shared_bytes;
};

}  // namespace roc::host_hip
