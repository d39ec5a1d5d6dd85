// SPDX-License-Identifier: MIT
// Memory resources that allocate host memory directly from HIP: pinned and managed memory.
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// Allocates pinned host memory with hipHostMalloc and deallocates with hipHostFree, for host
/// arrays (rmm: `pinned_host_memory_resource`). Pinning takes half a second per GiB: use a
/// pool_resource over this resource for arrays that are created often.
///
/// *Synchronization:* a deallocation blocks until the work on its stream has finished, and in
/// hipHostFree until the device is idle. Allocation ignores the stream.
///
/// Functions that look up their memory (roc::copy, roc::memcpy) find that memory allocated directly
/// from the resource is pinned; other copies stage it unless roc::adopt_registered announces it.
class ROCARRAY_API hip_pinned_memory_resource final : public memory_resource {
 public:
  /// Creates a resource that allocates with hipHostMalloc.
  ///
  /// @param flags of the memory; with `mapped`, arrays are of the kind host_memory::mapped
  /// @param device ordinal of the device that is current during allocations and that a default
  ///   stream refers to; memory is pinned for it only, unless `flags` has `portable`. -1: the
  ///   current one
  /// @throws roc::error if the device does not exist, or the flags contradict each other
  explicit hip_pinned_memory_resource(host_flags flags = host_flags::portable, int device = -1,
                                      detail::caller at = std::source_location::current());

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
  bool do_is_equal(memory_resource const& other) const noexcept override;
  int do_device_ordinal() const noexcept override;
  std::optional<host_memory> do_host_kind() const noexcept override;

  int device_;
  host_flags flags_;
};

/// Allocates managed memory with hipMallocManaged and deallocates with hipFree, for host arrays and
/// for device arrays (rmm: `managed_memory_resource`).
///
/// *Synchronization:* a deallocation blocks until the work on its stream has finished, and in
/// hipFree until the device is idle. Allocation ignores the stream. If the device has no concurrent
/// managed access, the host may access the memory only while no work of the device is pending:
/// roc::map waits for that.
class ROCARRAY_API hip_managed_memory_resource final : public memory_resource {
 public:
  /// Creates a resource that allocates with hipMallocManaged.
  ///
  /// @param device ordinal of the device that is current during allocations and that a default
  ///   stream refers to; -1: the current one
  /// @throws roc::error if the device does not exist, or with std::errc::not_supported if it has no
  ///   managed memory
  explicit hip_managed_memory_resource(int device = -1,
                                       detail::caller at = std::source_location::current());

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  bool do_can_release() const noexcept override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
  bool do_is_equal(memory_resource const& other) const noexcept override;
  int do_device_ordinal() const noexcept override;
  std::optional<host_memory> do_host_kind() const noexcept override;

  int device_;
};

}  // namespace roc
