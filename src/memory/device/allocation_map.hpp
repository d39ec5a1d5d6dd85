// SPDX-License-Identifier: MIT
// From a device address, inside a block too, to what is known about the block.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "memory/device/allocation_record.hpp"
#include "base/byte_range.hpp"

namespace roc::memory {

class pool_chunk;

/// Memory of pools, chunk by chunk, and single allocations of other resources. Looking up takes no
/// lock where one chunk has a region of 2 MiB to itself, as on real devices.
class allocation_map {
 public:
  static allocation_map& instance();

  void add(void const* data, std::size_t bytes, pool_chunk* chunk);
  void add(void const* data, std::size_t bytes, allocation_record* record);
  void remove(void const* data) noexcept;

  allocation_record* find(void const* address) noexcept;

  /// What find gives, and the addresses around for which it would give the same while the memory
  /// there stays what it is. Never an empty range.
  struct answer {
    allocation_record* record = nullptr;
    base::byte_range where;
  };
  answer find_around(void const* address) noexcept;

 private:
  struct tenant {
    std::uintptr_t end;
    pool_chunk* chunk;      // one of the two
    allocation_record* record;
    std::uintptr_t begin;
    tenant const* around;   // what it lies in: a pool may stand on a pool
  };
  // Three levels of 12 bits over addresses of 57 bits in regions of 21.
  struct leaf {
    std::array<std::atomic<std::uintptr_t>, 4096> entries{};
  };
  struct branch {
    std::array<std::atomic<leaf*>, 4096> leaves{};
  };

  void insert(void const* data, std::size_t bytes, tenant what);
  tenant const* tenant_at(std::uintptr_t address) const noexcept;
  allocation_record* find_slow_path(std::uintptr_t address) noexcept;
  answer find_around_slowly(std::uintptr_t address) noexcept;
  std::uintptr_t known_of(std::uintptr_t region) const noexcept;
  std::atomic<std::uintptr_t>& entry(std::uintptr_t region);
  void refresh(std::uintptr_t begin, std::uintptr_t end);

  std::shared_mutex mutex_;
  // By first address; where a pool stands on a pool, the upper one's chunk comes last.
  std::multimap<std::uintptr_t, tenant> tenants_;
  std::array<std::atomic<branch*>, 4096> branches_{};
};

}  // namespace roc::memory
