// SPDX-License-Identifier: MIT
// From a device address, inside a block too, to what is known about the block.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "memory/memory_record.hpp"
#include "memory/range.hpp"

namespace roc::memory {

class pool_chunk;

/// Memory of pools, chunk by chunk, and single allocations of other resources. Looking up takes no
/// lock where one chunk has a region of 2 MiB to itself, as on real devices.
class block_table {
 public:
  static block_table& instance();

  void add(void const* data, std::size_t bytes, pool_chunk* chunk);
  void add(void const* data, std::size_t bytes, memory_record* record);
  void remove(void const* data) noexcept;

  memory_record* find(void const* address) noexcept;

  /// What find gives, and the addresses around for which it would give the same while the memory
  /// there stays what it is. Never an empty range.
  struct answer {
    memory_record* record = nullptr;
    range where;
  };
  answer find_around(void const* address) noexcept;

 private:
  struct tenant {
    std::uintptr_t end;
    pool_chunk* chunk;      // one of the two
    memory_record* record;
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
  memory_record* find_slowly(std::uintptr_t address) noexcept;
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
