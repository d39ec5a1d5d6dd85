// SPDX-License-Identifier: MIT
// Pinned and registered host memory, by the rules of CUDA, of old or of new ROCm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "platform/host/api.hpp"

namespace roc::host_hip {

struct host_range {
  std::byte* data;
  std::size_t bytes;
  unsigned flags;
  bool registered;    // by the program; else allocated here
  std::byte* device;  // the address by which a device knows it
  unsigned pins;      // how often it was registered: leaks under the rules of old ROCm
  bool managed;       // allocated here, for host and device alike
};

/// Whether the address is one of `bytes` from `first` on.
inline bool within(void const* address, void const* first, std::size_t bytes) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  auto const begin = reinterpret_cast<std::uintptr_t>(first);
  return at >= begin && at - begin < bytes;
}

/// The last of `bytes` from an address on; the highest address there is where that is beyond it.
inline void const* last_byte(void const* address, std::size_t bytes) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  std::size_t const more = bytes == 0 ? 0 : bytes - 1;
  return reinterpret_cast<void const*>(more > UINTPTR_MAX - at ? UINTPTR_MAX : at + more);
}

class host_ranges {
 public:
  static host_ranges& instance();

  hipError_t allocate(void** data, std::size_t bytes, unsigned flags);
  hipError_t allocate_managed(void** data, std::size_t bytes, unsigned flags);
  hipError_t free(void* data, bool managed);
  hipError_t add(void* data, std::size_t bytes, unsigned flags);
  hipError_t remove(void* data);

  /// The range that holds the address, by the host's address or the device's.
  std::optional<host_range> find(void const* address) const;
  enum class kind { registered, pinned, managed };
  /// Whether a range of this kind begins at the address.
  bool begins(void const* address, kind which) const;
  /// Whether a range begins or ends within [address, address + bytes): copies may not straddle it.
  bool straddles(void const* address, std::size_t bytes) const;

 private:
  // By the host's address; those of ROCm may overlap.
  using table = std::map<std::byte*, host_range>;

  static kind kind_of(host_range const& range);
  hipError_t add_allocated(void** data, std::size_t bytes, unsigned flags, bool managed);
  table::const_iterator holding(void const* address) const;
  bool overlaps(void const* data, std::size_t bytes) const;

  mutable std::mutex mutex_;
  table ranges_;
};

}  // namespace roc::host_hip
