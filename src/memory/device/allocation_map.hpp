// SPDX-License-Identifier: MIT
// The map from device addresses to the records of the allocations that contain them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/byte_range.hpp"
#include "base/no_destructor.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/pool_slab.hpp"

namespace roc::memory {

/// A process-wide map of the slabs of pools and of single allocations of other resources. Entries
/// may be nested: a pool may have another pool as its upstream. Safe to call from any thread; no
/// member calls HIP.
///
/// Every copy makes lookups. A lookup takes no lock if the region of 2 MiB around the address is
/// empty or covered by a single slab, which is the usual case on devices: their slabs are aligned
/// to 2 MiB. A lookup in the region of an end of a slab that is not aligned takes the mutex,
/// shared.
class allocation_map {
 public:
  /// Returns the one map of the process. It is never destroyed, because static arrays are freed
  /// after every other static object.
  static allocation_map& instance() {
    static base::no_destructor<allocation_map> map;
    return *map;
  }

  /// Adds `bytes` at `data`. The map does not own the slab or the record; the caller removes the
  /// entry before it destroys them. Holds the mutex exclusively for a short time. Throws
  /// std::bad_alloc; the map is then unchanged.
  void add(void const* data, std::size_t bytes, pool_slab* slab, int device);
  void add(void const* data, std::size_t bytes, allocation_record* record);
  /// Adds `bytes` at `data` as add does, unless the range overlaps an entry: then returns false.
  bool add_if_disjoint(void const* data, std::size_t bytes, allocation_record* record);
  /// Removes the entry that begins at `data`, the innermost one if there are several. Does nothing
  /// if there is none. Holds the mutex exclusively for a short time.
  void remove(void const* data) noexcept;

  /// Returns the record of the innermost allocation that contains `address`, which may be inside
  /// the allocation; null if there is none. The caller guarantees that the memory at `address`
  /// stays allocated, by the library or by other code.
  allocation_record* find(void const* address) noexcept {
    auto const number = reinterpret_cast<std::uintptr_t>(address);
    std::uintptr_t const value = load_region(number >> region_bits);
    if (value == 0) return nullptr;
    if (value == mixed_region) return find_slow_path(number);
    return reinterpret_cast<pool_slab const*>(value)->record_at(address);
  }

  /// Returns the record of the innermost allocation that contains `address`, an address that
  /// nothing keeps allocated: another thread may free the memory at any time, and destroy the
  /// record. The result is only for an allocation_visit of the record, during which another call
  /// tells whether the memory is still allocated. Returns null for memory that is free or has no
  /// record. Takes the mutex, shared, if the region of the address is not empty.
  allocation_record* find_allocated(void const* address) noexcept;

  enum class memory_state : unsigned char { unknown, free, in_use };
  struct classification {
    memory_state state = memory_state::unknown;  // free: a pool has it, and no array
    int device = -1;                             // of memory in use
  };
  /// Returns what the map knows about any address, also of memory that other threads allocate and
  /// free meanwhile; `unknown` for host memory that is in use. Takes the mutex, shared, if the
  /// region of the address is not empty.
  classification classify(void const* address) noexcept;

  /// Blocks until all calls of `classify` have returned that began before. To be called after a
  /// record has been made unreachable, and before it is destroyed while its slab is in the map.
  void wait_for_readers() noexcept { std::unique_lock const lock(mutex_); }

  /// The result of a lookup: a record, and a range that contains the address. Lookups of all
  /// addresses in the range return the same record until allocations in the range change. The range
  /// is never empty after a lookup.
  struct located_record {
    allocation_record* record = nullptr;
    base::byte_range range;
  };
  /// Returns the record that find returns, and the range of addresses that share it.
  located_record find_with_range(void const* address) noexcept;

 private:
  /// Exactly one of `slab` and `record` is set.
  struct entry {
    std::uintptr_t begin;
    std::uintptr_t end;
    pool_slab* slab;
    allocation_record* record;
    int device;
    entry const* enclosing;  // the innermost entry that contains this one; null if none does
  };
  // A radix tree with three levels of 12 bits: addresses of 57 bits in regions of 2^21 bytes. A
  // region's value is a pool_slab*, `mixed_region` or 0. Nodes are never freed.
  static constexpr unsigned region_bits = 21;
  static constexpr unsigned level_bits = 12;
  static constexpr std::uintptr_t level_mask = (std::uintptr_t{1} << level_bits) - 1;
  // The value of a region that is neither empty nor covered by a single slab, as the innermost
  // entry of all its addresses. No slab has this address.
  static constexpr std::uintptr_t mixed_region = 1;
  struct leaf {
    std::array<std::atomic<std::uintptr_t>, 4096> regions{};
  };
  struct branch {
    std::array<std::atomic<leaf*>, 4096> leaves{};
  };

  /// Adds an entry. The caller holds the mutex. Throws std::bad_alloc; the map is then unchanged.
  void insert_locked(void const* data, std::size_t bytes, pool_slab* slab,
                     allocation_record* record, int device);
  /// Returns the innermost entry that contains the address, or null. The caller holds the mutex,
  /// shared at least.
  entry const* innermost_entry(std::uintptr_t address) const noexcept;
  /// Implement find and find_with_range for mixed regions. Take the mutex, shared.
  allocation_record* find_slow_path(std::uintptr_t address) noexcept;
  located_record find_with_range_slow_path(std::uintptr_t address) noexcept;
  /// Returns the stored value of region number `region`: a pool_slab*, `mixed_region` or 0.
  /// Lock-free.
  std::uintptr_t load_region(std::uintptr_t region) const noexcept {
    auto const& slot = branches_[region >> 2 * level_bits & level_mask];
    branch* const b = slot.load(std::memory_order_acquire);
    if (b == nullptr) return 0;
    leaf* const l = b->leaves[region >> level_bits & level_mask].load(std::memory_order_acquire);
    if (l == nullptr) return 0;
    return l->regions[region & level_mask].load(std::memory_order_acquire);
  }
  /// Returns a reference to the value of a region, and creates missing nodes. The caller holds the
  /// mutex. Throws std::bad_alloc, but not if the region was in an entry before.
  std::atomic<std::uintptr_t>& region_slot(std::uintptr_t region);
  /// Recomputes the values of the regions that overlap [begin, end), for which region_slot has been
  /// called. The caller holds the mutex.
  void update_regions(std::uintptr_t begin, std::uintptr_t end) noexcept;

  std::shared_mutex mutex_;  // guards entries_, and writes to the tree
  // Ordered by first address; if nested entries begin at the same address, the innermost is last.
  std::multimap<std::uintptr_t, entry> entries_;
  std::array<std::atomic<branch*>, 4096> branches_{};
};

/// Calls f(visit, record) for the record of the allocation that contains `address`, during an
/// allocation_visit, unless find_allocated(address) returns null. For addresses whose memory
/// nothing keeps allocated. `f` must not deallocate memory.
template <class F>
void visit_record(void const* address, F f) {
  allocation_map& map = allocation_map::instance();
  allocation_record* const record = map.find_allocated(address);
  if (record == nullptr) return;
  allocation_visit visit(record);
  if (map.find_allocated(address) == record) f(visit, *record);
}

/// Returns the record of the allocation that contains `address`, which may be inside it; null if
/// `address` is null or not in memory that the library allocated.
inline allocation_record* find_record(void const* address) noexcept {
  return address != nullptr ? allocation_map::instance().find(address) : nullptr;
}

/// Looks up many addresses, most of which are in the same allocation as the previous one. Caches
/// the last result together with the range of addresses for which it is valid.
///
/// Use an object of this class only while all memory that is looked up stays allocated. Other
/// memory may be allocated and deallocated meanwhile. Not thread-safe.
class record_finder {
 public:
  /// Returns what find_record returns.
  allocation_record* operator()(void const* address) noexcept {
    auto const value = reinterpret_cast<std::uintptr_t>(address);
    if (value - last_.range.begin >= last_.range.bytes()) {
      last_ = allocation_map::instance().find_with_range(address);
    }
    return last_.record;
  }

 private:
  allocation_map::located_record last_;
};

}  // namespace roc::memory
