// SPDX-License-Identifier: MIT
// Pinned, managed and registered host memory, by the rules of the emulated runtime
// (ROCARRAY_HOST_EMULATE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "platform/host/api.hpp"

namespace roc::host_hip {

/// A range of host memory that devices can access.
struct host_range {
  std::byte* data;
  std::size_t bytes;
  unsigned flags;
  bool registered;          // the program's memory; otherwise allocated by host_ranges
  std::byte* device;        // address of the range on the devices
  unsigned pins;            // number of registrations; more than 1 only under the rules of old ROCm
  bool managed;             // allocated as managed memory
  int ordinal;              // the current device of the allocation or registration
  bool is_exposed = false;  // the program has asked for the device address, which differs
};

/// Returns true if `address` is in [first, first + bytes).
inline bool is_within(void const* address, void const* first, std::size_t bytes) {
  auto const value = reinterpret_cast<std::uintptr_t>(address);
  auto const begin = reinterpret_cast<std::uintptr_t>(first);
  return value >= begin && value - begin < bytes;
}

/// Returns the address of the last byte of [address, address + bytes), or the highest address if
/// the range exceeds the address space. Returns `address` for 0 bytes.
inline void const* last_byte(void const* address, std::size_t bytes) {
  auto const value = reinterpret_cast<std::uintptr_t>(address);
  std::size_t const distance = bytes == 0 ? 0 : bytes - 1;
  return reinterpret_cast<void const*>(distance > UINTPTR_MAX - value ? UINTPTR_MAX
                                                                      : value + distance);
}

/// The process-wide table of host_range objects. All functions may be called from any thread; none
/// blocks on the work of streams.
///
/// If the device address of registered memory differs from the host address, memory of its own is
/// mapped there, which only kernels can access. When a kernel begins and when it ends, the bytes
/// that changed at one address are copied to the other (open_device_addresses).
class host_ranges {
 public:
  /// Returns the table of the process, which is never destroyed.
  static host_ranges& instance() noexcept;

  /// Allocates pinned memory. Returns the result of hipHostMalloc.
  hipError_t allocate(void** data, std::size_t bytes, unsigned flags);
  /// Allocates managed memory. Returns the result of hipMallocManaged.
  hipError_t allocate_managed(void** data, std::size_t bytes, unsigned flags);
  /// Frees pinned or managed memory. Returns hipErrorInvalidValue if no such allocation begins at
  /// `data`.
  hipError_t free(void* data);
  /// Registers memory of the program. Returns the result of hipHostRegister.
  hipError_t add(void* data, std::size_t bytes, unsigned flags);
  /// Deregisters memory. Returns the result of hipHostUnregister. Under the rules of ROCm an
  /// interior pointer and an allocation are undefined calls (undefined_call).
  hipError_t remove(void* data);

  /// Returns the range that contains the address, which may be a host or a device address.
  std::optional<host_range> find(void const* address) const;
  /// Returns true if a registered range begins at the address.
  bool is_registered_at(void const* address) const;
  /// Returns the device address of a byte of host memory, or null if it is in no range. Kernels may
  /// use the address afterwards.
  std::byte* device_address(void const* host);
  /// Makes device addresses accessible to a kernel until the matching call of
  /// close_device_addresses. Calls nest, also on several threads. Neither call throws.
  void open_device_addresses() noexcept;
  void close_device_addresses() noexcept;

  /// Returns true if [address, address + bytes) overlaps a range but is not part of one. Such
  /// memory cannot be copied in one call. Under the rules of ROCm it can if `address` is in no
  /// range; then this returns false.
  bool straddles(void const* address, std::size_t bytes) const;

 private:
  // By host address. Ranges may overlap under the rules of ROCm, not under those of CUDA.
  using table = std::map<std::byte*, host_range>;

  /// Allocates pinned or managed memory and adds it to the table. Returns the result of the HIP
  /// call.
  hipError_t add_allocated(void** data, std::size_t bytes, unsigned flags, bool managed);
  /// Returns the innermost range that contains the address, or end(). The caller holds the lock.
  table::const_iterator find_locked(void const* address) const;
  /// Copies the bytes of all exposed ranges that changed at one of their addresses to the other.
  /// The caller holds the lock, and the device addresses are accessible.
  void exchange_changes_locked() noexcept;
  /// Returns true if a range overlaps [data, data + bytes). The caller holds the lock.
  bool overlaps_locked(void const* data, std::size_t bytes) const;

  mutable std::mutex mutex_;
  table ranges_;
  unsigned open_count_ = 0;  // calls of open_device_addresses that are not matched yet
};

}  // namespace roc::host_hip
