// SPDX-License-Identifier: MIT
// The allocators that the cases alloc/* time.
#pragma once

#include <cstddef>
#include <memory>

namespace rocbench {

/// Allocates and deallocates memory by one API, one allocation at a time. Errors of HIP are thrown
/// as roc::error.
class allocator {
 public:
  virtual ~allocator() = default;
  /// Returns the name of the allocator for tables and result files.
  virtual char const* path() const = 0;
  /// Returns host or device memory. May return before stream-ordered memory can be accessed:
  /// synchronize the device first.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Frees the memory or, for an allocator of registered memory, deregisters it. Precondition:
  /// `memory` is the last result of allocate(bytes).
  virtual void deallocate(void* memory, std::size_t bytes) = 0;
};

enum class allocator_kind : unsigned char {
  device_array,     ///< roc::device_array, from the library's pool
  device_raw,       ///< hipMalloc, hipFree
  driver_pool,      ///< roc::hip_async_memory_resource
  driver_pool_raw,  ///< hipMallocAsync, hipFreeAsync
  pinned_array,     ///< roc::pinned_array, from the library's cache
  pinned_raw,       ///< hipHostMalloc, hipHostFree
  registered,       ///< roc::register_host of memory that has been written before
  registered_raw,   ///< hipHostRegister, hipHostUnregister of memory that has been written before
};

/// Returns an allocator for allocations of `bytes` bytes. Throws case_not_supported if the device
/// has no memory pools.
std::unique_ptr<allocator> make_allocator(allocator_kind kind, std::size_t bytes);

}  // namespace rocbench
