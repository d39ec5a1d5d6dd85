// SPDX-License-Identifier: MIT
// The shared memory of a kernel's blocks on the CPU, and the check of writes beyond it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "platform/host/fiber.hpp"
#include "platform/host/grid_launch.hpp"
#include "platform/host/kernel_symbols.hpp"

namespace roc::host_hip {

/// A write of a block to memory that no variable of a running kernel uses.
struct unused_memory_write {
  std::string problem;         // "has written 4 bytes beyond the __shared__ variable ..."
  std::size_t nearest_offset;  // of the nearest variable, in the thread-local memory
};

/// The shared memory of the blocks that one thread of the system runs, one after another: dynamic
/// shared memory, which is kept for later kernels, and the kernel's `__shared__` variables, which
/// are thread-local variables of its shared object.
class block_shared_memory {
 public:
  static constexpr std::size_t alignment = 16;

  /// Returns true if prepare needs no further memory for `bytes` of dynamic shared memory.
  bool has(std::size_t bytes) const noexcept;
  /// Allocates dynamic shared memory unless has(bytes) is true. No block runs. Throws
  /// std::bad_alloc.
  void allocate(std::size_t bytes);
  /// Prepares for the blocks of a kernel and returns their dynamic shared memory. With `poisons`,
  /// finds the memory that poison() fills. Throws std::bad_alloc.
  std::byte* prepare(grid_launch const& launch, bool poisons);
  /// Fills the shared memory, and the unused memory beside it, before a block runs.
  void poison() const;
  /// Returns the writes to unused memory since poison(). Throws std::bad_alloc.
  std::vector<unused_memory_write> writes_to_unused_memory() const;

 private:
  // A range of bytes, relative to the thread-local memory of a shared object.
  struct thread_local_range {
    std::size_t offset;
    std::size_t bytes;
  };

  // Finds the memory beyond the kernel's `__shared__` variables that no variable of a running
  // kernel uses. Throws std::bad_alloc.
  void find_unused_memory(void const* kernel);

  std::unique_ptr<guarded_memory> memory_;
  std::byte* dynamic_ = nullptr;  // in memory_
  std::size_t dynamic_bytes_ = 0;
  std::byte* static_ = nullptr;  // of the `__shared__` variables; null if they are not poisoned
  std::shared_ptr<kernel_symbols const> symbols_;
  std::vector<thread_local_range> unused_memory_;
};

}  // namespace roc::host_hip
