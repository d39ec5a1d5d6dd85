// SPDX-License-Identifier: MIT
// Device memory: one reserved range per device, handed out first fit, from which ranges, poison and
// protection come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace roc::host_hip {

/// One allocation of device memory.
struct allocation {
  std::byte* data;
  std::size_t bytes;  // as asked for
};

class arena {
 public:
  /// Reserves `capacity` bytes of addresses; memory is taken when it is touched.
  explicit arena(std::size_t capacity);

  /// Null where no gap is long enough.
  void* allocate(std::size_t bytes);
  /// False unless `data` begins an allocation.
  bool free(void* data);

  /// Whether the address is in this device's range, allocated or not.
  bool owns(void const* address) const noexcept;
  /// The allocation that holds the address.
  std::optional<allocation> find(void const* address) const;
  std::size_t free_bytes() const;
  std::size_t capacity() const noexcept { return capacity_; }

  /// The provider's own address of a device address: writable also while the memory is closed.
  std::byte* writable(void const* device_address) const noexcept;

  /// Opens the memory to the program, for as long as a kernel runs. Counted.
  void open();
  void close();

 private:
  std::size_t used(std::size_t bytes) const noexcept;
  void poison(void* data, std::size_t bytes, unsigned char with) const;

  std::size_t capacity_ = 0;
  std::byte* base_ = nullptr;
  std::ptrdiff_t alias_ = 0;  // from a device address to the provider's own
  mutable std::mutex mutex_;
  std::map<std::byte*, std::size_t> allocations_;  // bytes as asked for
  std::size_t in_use_ = 0;
  unsigned opened_ = 0;
};

/// The memory of a device, which exists.
arena& memory_of(int device);
/// The device whose range holds the address; -1 for host memory.
int device_owning(void const* address);

}  // namespace roc::host_hip
