// SPDX-License-Identifier: MIT
// A launch of a host stub with a copy of its arguments.
#pragma once

#include <cstddef>
#include <vector>

#include "platform/host/grid.hpp"
#include "platform/host/host_stub_abi.hpp"

namespace roc::fake_runtime {

/// The size of a grid in blocks, or of a block in threads.
struct launch_extent {
  unsigned sizes[3];

  std::size_t count() const { return std::size_t{1} * sizes[0] * sizes[1] * sizes[2]; }
};

/// One launch. The host stub must outlive it.
class pending_launch {
 public:
  /// Copies the arguments, because the launch returns before the kernel runs. Allocates what the
  /// kernel needs to run. Throws std::bad_alloc.
  pending_launch(host_stub const& stub, launch_extent grid, launch_extent block,
                 std::size_t shared_bytes, void* const* arguments);

  pending_launch(pending_launch const&) = delete;
  pending_launch& operator=(pending_launch const&) = delete;

  /// Runs the kernel for the whole grid, on several threads. Blocks until it is done.
  void run();

 private:
  // Returns the grid of a kernel whose blocks run as such.
  host_hip::grid_launch grid_of_kernel();

  /// The unit of storage: aligned for every type.
  struct alignas(64) storage_unit {
    std::byte bytes[64];
  };

  host_stub const& stub_;
  launch_extent grid_;
  launch_extent block_;
  std::size_t shared_bytes_;
  std::vector<storage_unit> storage_;
  std::vector<void*> arguments_;  // each is in `storage_`
};

}  // namespace roc::fake_runtime
