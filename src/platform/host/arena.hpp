// SPDX-License-Identifier: MIT
// Device memory: an address range per device with a first-fit allocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace roc::host_hip {

/// An allocation of device memory.
struct allocation {
  std::byte* data;
  std::size_t bytes;  // as requested, without alignment
  bool is_from_pool;  // of hipMallocAsync
};

/// The memory of one device. All functions may be called from any thread.
///
/// With ROCARRAY_HOST_PROTECT the memory is mapped twice: at the device addresses, which fault
/// unless the arena is open, and at an address that is always accessible (`host_alias`).
class arena {
 public:
  /// Reserves `capacity` bytes of address space; the system provides memory at first access. Throws
  /// std::bad_alloc.
  explicit arena(std::size_t capacity);

  /// Returns device memory, or null if no gap is large enough. Fills the memory with `fresh_poison`
  /// if ROCARRAY_HOST_POISON is set.
  void* allocate(std::size_t bytes, bool is_from_pool = false);
  /// Frees an allocation. Returns false if none begins at `data`. Fills the memory with
  /// `freed_poison` if ROCARRAY_HOST_POISON is set.
  bool free(void* data);

  /// Returns true if the address is in this device's range, allocated or not.
  bool contains(void const* address) const noexcept;
  /// Returns the allocation that contains the address, if any.
  std::optional<allocation> find(void const* address) const;
  std::size_t free_bytes() const;
  std::size_t capacity() const noexcept { return capacity_; }

  /// Returns the address at which copies access the byte at `device_address`; it is accessible also
  /// while the arena is closed.
  std::byte* host_alias(void const* device_address) const noexcept;

  /// Makes the device addresses accessible until the matching call of close(). Calls nest, also on
  /// several threads. Does nothing without ROCARRAY_HOST_PROTECT.
  void open();
  /// Ends one call of open(). The last one makes the device addresses inaccessible.
  void close();

 private:
  /// Returns the number of bytes that an allocation occupies.
  std::size_t aligned_size(std::size_t bytes) const noexcept;
  void fill_with_poison(void* data, std::size_t bytes, unsigned char value) const;

  std::size_t capacity_ = 0;
  std::byte* base_ = nullptr;
  std::ptrdiff_t alias_offset_ = 0;  // from a device address to its host alias; 0: not protected
  mutable std::mutex mutex_;
  struct size {
    std::size_t bytes;  // as requested
    bool is_from_pool;
  };
  std::map<std::byte*, size> allocations_;
  std::size_t bytes_in_use_ = 0;
  unsigned open_count_ = 0;
};

/// Returns the memory of a device, which must exist. The first call reserves that of all devices.
arena& device_arena(int device);
/// Returns the device whose range contains the address, or -1 if it is host memory.
int owning_device(void const* address);

}  // namespace roc::host_hip
