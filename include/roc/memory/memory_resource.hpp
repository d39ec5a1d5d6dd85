// SPDX-License-Identifier: MIT
// The interface of memory resources, which allocate memory of devices or of the host, and the
// default resource of each device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Counters of a memory resource. Counters that a resource does not support are zero.
struct memory_statistics {
  std::size_t current_bytes = 0;  ///< bytes allocated now
  /// The largest value of current_bytes so far. A pool may miss a peak that consists of small
  /// blocks from the caches of several threads.
  std::size_t peak_bytes = 0;
  std::size_t current_blocks = 0;      ///< blocks allocated now
  std::size_t allocations = 0;         ///< allocations so far
  std::size_t reserved_bytes = 0;      ///< bytes that a pool holds, allocated or free
  std::size_t free_bytes = 0;          ///< bytes that a pool holds and that are not allocated
  std::size_t pending_bytes = 0;       ///< the part of free_bytes that enqueued work may still use
  std::size_t largest_free_bytes = 0;  ///< size of the largest contiguous free block

  /// Returns the fragmentation of the free memory: 0 if it is one block or empty, close to 1 if it
  /// is many small blocks.
  double fragmentation() const noexcept {
    if (free_bytes == 0) return 0;
    return 1 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
  }
};

class memory_resource;

namespace memory {
class allocation_record;
}

namespace detail {

/// Records whether a resource exists. It is never freed, so that it outlives its resource.
struct resource_generation;

/// Weak reference to a memory resource. A value; safe to use after the resource was destroyed.
class ROCARRAY_API weak_resource_ref {
 public:
  weak_resource_ref() = default;
  /// @param generation the record of the resource
  /// @param number the value of the record while the resource exists
  weak_resource_ref(resource_generation* generation, std::uint64_t number)
      : generation_(generation), number_(number) {}
  /// Returns the resource, or null if it was destroyed.
  memory_resource* get() const noexcept;

 private:
  resource_generation* generation_ = nullptr;
  std::uint64_t number_ = 0;
};

/// An allocation of a memory resource, and what the resource knows about it.
struct resource_block {
  void* data = nullptr;
  /// The record of the streams that use the memory, owned by the resource; null if the resource
  /// has none.
  memory::allocation_record* record = nullptr;
  /// After an allocation: whether work enqueued earlier may still use the memory. In a
  /// deallocation: whether any work may.
  bool has_prior_work = true;
  /// After an allocation: whether every device that has access to memory of this device after
  /// runtime::enable_peer_access can access this memory.
  bool is_peer_accessible = false;
  /// The memory is from a pool of the driver, which other processes cannot open.
  bool is_from_driver_pool = false;
};

}  // namespace detail

/// Base class of memory resources, which allocate device memory, or pinned, managed or pageable
/// host memory: see host_kind. Allocation and deallocation are stream-ordered (rmm:
/// `device_memory_resource`; numba.cuda: `BaseCUDAMemoryManager`).
///
/// All members may be called from any thread at the same time.
///
/// *Lifetime:* a resource must outlive the arrays that allocate from it. An array that outlives its
/// resource reports that to the log hook and leaks its memory.
class ROCARRAY_API memory_resource {
 public:
  /// Alignment of every block, in bytes.
  static constexpr std::size_t alignment = 256;

  virtual ~memory_resource();
  memory_resource(memory_resource const&) = delete;
  memory_resource& operator=(memory_resource const&) = delete;

  /// Allocates memory for work that is enqueued on `stream` after this call.
  ///
  /// @param bytes size in bytes
  /// @param stream the stream on which the memory is used first
  /// @returns memory aligned to 256 bytes; null if `bytes` is zero
  /// @throws out_of_memory if there is not enough memory
  /// @throws roc::error if HIP reports another error, or in a host function of a stream
  ///
  /// *Synchronization:* blocks only if memory is short. The caller orders work on other streams
  /// after this call (device_array does).
  [[nodiscard]] void* allocate(std::size_t bytes, stream_ref stream = {},
                               detail::caller at = std::source_location::current());
  /// Deallocates memory. Work that is already enqueued on `stream` may still use it.
  ///
  /// Memory that does not belong to this resource, or was deallocated before, is reported to the
  /// log hook if the resource can detect that; nothing is freed then.
  ///
  /// @param data the result of allocate; null is ignored
  /// @param bytes the size that was passed to allocate
  /// @param stream the stream on which the memory was used last
  void deallocate(void* data, std::size_t bytes, stream_ref stream = {}) noexcept;

  /// Allocates as allocate does. Used by the arrays and pools of the library, which need the record
  /// of the memory.
  [[nodiscard]] detail::resource_block allocate_block(std::size_t bytes, stream_ref stream = {});
  /// Deallocates a result of allocate_block. If the block has prior work, the memory is reused only
  /// after it: the work of the streams in its record, or that of `stream` if it has no record.
  void deallocate_block(detail::resource_block const& block, std::size_t bytes,
                        stream_ref stream) noexcept;
  /// Returns true if hipFree may free the memory, so that arrays can be released.
  bool can_release() const noexcept { return do_can_release(); }

  /// Returns the device that the memory is on, or -1 if the resource does not name one.
  int device_ordinal() const noexcept { return do_device_ordinal(); }
  /// Returns the kind of host memory that this resource allocates, for host arrays; nothing if it
  /// allocates device memory. Device arrays can be in device memory and in managed memory
  /// (cuda::mr: `host_accessible`, `device_accessible`).
  std::optional<host_memory> host_kind() const noexcept { return do_host_kind(); }
  /// Returns a snapshot of the counters.
  memory_statistics statistics() const { return do_statistics(); }
  /// Returns unused memory to the upstream resource or to HIP. May block for some milliseconds to
  /// find out which work has finished, and as long as the upstream does: hipFree blocks until the
  /// device is idle.
  void trim(detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    do_trim();
  }
  /// Returns a weak reference, by which an array finds out whether its resource still exists.
  detail::weak_resource_ref weak_ref() const noexcept;

  /// Returns true if memory allocated from one may be deallocated by the other.
  friend bool operator==(memory_resource const& a, memory_resource const& b) noexcept {
    return &a == &b || a.do_is_equal(b);
  }

 protected:
  memory_resource();

  /// Implements allocate. `bytes` is between 1 and PTRDIFF_MAX.
  virtual void* do_allocate(std::size_t bytes, stream_ref stream) = 0;
  /// Implements deallocate. `data` is not null.
  virtual void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept = 0;
  /// Returns true if this may deallocate memory of `other`. Default: false.
  virtual bool do_is_equal(memory_resource const& other) const noexcept;
  /// Implements device_ordinal. Default: -1.
  virtual int do_device_ordinal() const noexcept;
  /// Implements host_kind. Default: nothing.
  virtual std::optional<host_memory> do_host_kind() const noexcept;
  /// Implements statistics. Default: zeros.
  virtual memory_statistics do_statistics() const;
  /// Implements trim. Default: does nothing.
  virtual void do_trim();

 private:
  /// Implements allocate_block and allocate. Default: calls do_allocate, and knows nothing about
  /// the memory. Resources of the library that forward the blocks of another one, or have records,
  /// override this.
  virtual detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream);
  /// Implements deallocate_block and deallocate, for which the block has no record. Default: calls
  /// do_deallocate.
  virtual void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                                   stream_ref stream) noexcept;
  /// Implements can_release. Default: false.
  virtual bool do_can_release() const noexcept;

  detail::resource_generation* generation_;
};

/// Returns the resource from which arrays on this device allocate.
///
/// Unless set_device_resource has set one, it is created at first use: a pool_resource, or the
/// resource that the environment variable ROCARRAY_MEMORY_RESOURCE names (`pool`, `hip`,
/// `hip_async`). With `hip`, tools such as compute-sanitizer see every array as an allocation.
///
/// @throws roc::error if the device does not exist
ROCARRAY_API memory_resource& device_resource(int device,
                                              detail::caller at = std::source_location::current());
/// Sets the resource from which arrays on this device will allocate.
///
/// @param device ordinal of the device
/// @param resource null restores the resource that was created at first use
/// @returns the previous resource
/// @throws roc::error if the device does not exist, or if the resource is on another device or
///   allocates pinned or pageable host memory
///
/// *Lifetime:* both resources must outlive the arrays that allocated from them.
ROCARRAY_API memory_resource* set_device_resource(
    int device, memory_resource* resource, detail::caller at = std::source_location::current());

}  // namespace roc
