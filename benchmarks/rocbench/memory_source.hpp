// SPDX-License-Identifier: MIT
// Ways to get memory and to give it back, for the cases that time both.
#pragma once

#include <cstddef>
#include <memory>

namespace rocbench {

/// One way. Errors of HIP are thrown as roc::error.
class memory_source {
 public:
  virtual ~memory_source() = default;
  virtual char const* path() const = 0;  ///< as the table says it
  virtual void* take(std::size_t bytes) = 0;
  virtual void give(void* memory, std::size_t bytes) = 0;
};

enum class memory_way : unsigned char {
  device_array,     ///< what device_array does: the library's pool
  device_raw,       ///< hipMalloc, hipFree
  driver_pool,      ///< roc::hip_async_memory_resource
  driver_pool_raw,  ///< hipMallocAsync, hipFreeAsync
  pinned_array,     ///< what pinned_array does: blocks kept for reuse
  pinned_raw,       ///< hipHostMalloc, hipHostFree
  registered,       ///< roc::register_host, of memory that has been touched
  registered_raw,   ///< hipHostRegister, hipHostUnregister
};

/// `bytes` are what will be taken. Throws not_possible.
std::unique_ptr<memory_source> make_memory_source(memory_way way, std::size_t bytes);

}  // namespace rocbench
