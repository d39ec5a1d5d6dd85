// SPDX-License-Identifier: MIT
// Memory resources that allocate directly from HIP.
#pragma once

#include <cstddef>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// Allocates with hipMalloc and deallocates with hipFree (rmm: `cuda_memory_resource`).
///
/// *Synchronization:* every deallocation blocks until all work on the device has finished.
/// Allocation ignores the stream.
///
/// Arrays that allocate from this resource can be released (device_array::release): the caller then
/// frees the memory with hipFree.
class ROCARRAY_API hip_memory_resource final : public memory_resource {
 public:
  /// Creates a resource that allocates with hipMalloc on a device.
  ///
  /// @param device ordinal of the device; -1: the current one
  /// @throws roc::error if the device does not exist
  explicit hip_memory_resource(int device = -1,
                               detail::caller at = std::source_location::current());

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  bool do_can_release() const noexcept override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  bool do_is_equal(memory_resource const& other) const noexcept override;
  int do_device_ordinal() const noexcept override;

  int device_;
};

/// Allocates with hipMallocFromPoolAsync from the device's default memory pool, whichever pool is
/// current, and deallocates with hipFreeAsync (rmm: `cuda_async_memory_resource`). Sets the pool's
/// release threshold so that the pool keeps free memory.
///
/// *Synchronization:* allocation and deallocation are stream-ordered.
///
/// Arrays in this memory cannot be opened by other processes (roc/ipc.hpp).
///
/// Not the default, because the pool of AMD's driver has open defects.
class ROCARRAY_API hip_async_memory_resource final : public memory_resource {
 public:
  /// Creates a resource that allocates from the driver's memory pool of a device.
  ///
  /// @param device ordinal of the device; -1: the current one
  /// @throws roc::error if the device does not exist, or with std::errc::not_supported if it has no
  ///   memory pool
  explicit hip_async_memory_resource(int device = -1,
                                     detail::caller at = std::source_location::current());

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  bool do_is_equal(memory_resource const& other) const noexcept override;
  int do_device_ordinal() const noexcept override;
  void do_trim() override;

  int device_;
  void* pool_;  // the default hipMemPool_t of the device
};

}  // namespace roc
