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
  bool registered;    // the program's memory; otherwise allocated by host_ranges
  std::byte* device;  // address of the range on the devices
  unsigned pins;      // number of registrations; more than 1 only under the rules of old ROCm
  bool managed;       // allocated as managed memory
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
class host_ranges {
 public:
  enum class kind { registered, pinned, managed };

  /// Returns the table of the process, which is never destroyed.
  static host_ranges& instance();

  /// Allocates pinned memory. Returns the result of hipHostMalloc.
  hipError_t allocate(void** data, std::size_t bytes, unsigned flags);
  /// Allocates managed memory. Returns the result of hipMallocManaged.
  hipError_t allocate_managed(void** data, std::size_t bytes, unsigned flags);
  /// Frees managed memory if `managed`, else pinned memory; null is valid. Returns
  /// hipErrorInvalidValue if no such allocation begins at `data`.
  hipError_t free(void* data, bool managed);
  /// Registers memory of the program. Returns the result of hipHostRegister.
  hipError_t add(void* data, std::size_t bytes, unsigned flags);
  /// Deregisters memory. Returns the result of hipHostUnregister. Under the rules of ROCm an
  /// interior pointer aborts the process.
  hipError_t remove(void* data);

  /// Returns the range that contains the address, which may be a host or a device address.
  std::optional<host_range> find(void const* address) const;
  /// Returns true if a range of this kind begins at the address.
  bool has_range_at(void const* address, kind expected) const;
  /// Returns true if [address, address + bytes) overlaps a range but is not part of one. Such
  /// memory cannot be copied in one call.
  bool straddles(void const* address, std::size_t bytes) const;

 private:
  // By host address. Ranges may overlap under the rules of ROCm, not under those of CUDA.
  using table = std::map<std::byte*, host_range>;

  static kind kind_of(host_range const& range);
  /// Allocates pinned or managed memory and adds it to the table. Returns the result of the HIP
  /// call.
  hipError_t add_allocated(void** data, std::size_t bytes, unsigned flags, bool managed);
  /// Returns the innermost range that contains the address, or end(). The caller holds the lock.
  table::const_iterator find_locked(void const* address) const;
  /// Returns true if a range overlaps [data, data + bytes). The caller holds the lock.
  bool overlaps_locked(void const* data, std::size_t bytes) const;

  mutable std::mutex mutex_;
  table ranges_;
};

}  // namespace roc::host_hip
