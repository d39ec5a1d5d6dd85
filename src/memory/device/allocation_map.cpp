// SPDX-License-Identifier: MIT
#include "memory/device/allocation_map.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>

#include "memory/device/pool_slab.hpp"

namespace roc::memory {
namespace {

std::uintptr_t address_of(void const* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Returns the block of the slab that contains `address`, and the part of its range that is within
// `bounds`. If there is no block, returns null and a range of one byte.
allocation_map::located_record locate_block(pool_slab const& slab, std::uintptr_t address,
                                            base::byte_range bounds) noexcept {
  pool_block* const block = slab.record_at(reinterpret_cast<void const*>(address));
  if (block == nullptr) return {nullptr, {address, address + 1}};
  base::byte_range const range = base::byte_range::of(block->data, block->bytes());
  return {block, {std::max(range.begin, bounds.begin), std::min(range.end, bounds.end)}};
}

}  // namespace

void wait_for_map_readers() noexcept { allocation_map::instance().wait_for_readers(); }

void allocation_map::add(void const* data, std::size_t bytes, pool_slab* slab, int device) {
  std::unique_lock const lock(mutex_);
  insert_locked(data, bytes, slab, nullptr, device);
}

void allocation_map::add(void const* data, std::size_t bytes, allocation_record* record) {
  std::unique_lock const lock(mutex_);
  insert_locked(data, bytes, nullptr, record, record->allocation_stream.device());
}

bool allocation_map::add_if_disjoint(void const* data, std::size_t bytes,
                                     allocation_record* record) {
  std::uintptr_t const begin = address_of(data);
  std::unique_lock const lock(mutex_);
  auto const next = entries_.lower_bound(begin);
  bool const is_disjoint =
      innermost_entry(begin) == nullptr && (next == entries_.end() || next->first >= begin + bytes);
  if (is_disjoint) insert_locked(data, bytes, nullptr, record, record->allocation_stream.device());
  return is_disjoint;
}

void allocation_map::insert_locked(void const* data, std::size_t bytes, pool_slab* slab,
                                   allocation_record* record, int device) {
  std::uintptr_t const begin = address_of(data);
  std::uintptr_t const end = begin + bytes;
  // First the nodes of the tree, so that nothing can throw after the entry was added.
  for (std::uintptr_t region = begin >> region_bits; region <= (end - 1) >> region_bits; ++region) {
    region_slot(region);
  }
  entries_.emplace(begin, entry{begin, end, slab, record, device, innermost_entry(begin)});
  update_regions(begin, end);
}

void allocation_map::remove(void const* data) noexcept {
  std::unique_lock const lock(mutex_);
  auto found = entries_.upper_bound(address_of(data));
  if (found == entries_.begin() || (--found)->first != address_of(data)) return;
  std::uintptr_t const end = found->second.end;
  // Nested entries remain only if memory was deallocated while parts of it were still in use.
  for (auto inner = std::next(found); inner != entries_.end() && inner->first < end; ++inner) {
    if (inner->second.enclosing == &found->second) {
      inner->second.enclosing = found->second.enclosing;
    }
  }
  entries_.erase(found);
  update_regions(address_of(data), end);
}

allocation_record* allocation_map::find_allocated(void const* address) noexcept {
  if (load_region(address_of(address) >> region_bits) == 0) return nullptr;
  std::shared_lock const lock(mutex_);
  entry const* const found = innermost_entry(address_of(address));
  if (found == nullptr) return nullptr;
  if (found->slab == nullptr) return found->record;
  pool_block* const block = found->slab->record_at(address);
  return block != nullptr && block->is_allocated.load() ? block : nullptr;
}

allocation_map::classification allocation_map::classify(void const* address) noexcept {
  if (load_region(address_of(address) >> region_bits) == 0) return {};
  // The slab and its records stay alive while the mutex is held. Only their members that other
  // threads may read are used: the device is that of the entry.
  std::shared_lock const lock(mutex_);
  entry const* const found = innermost_entry(address_of(address));
  if (found == nullptr) return {};
  if (found->slab == nullptr) return {memory_state::in_use, found->device};
  pool_block const* const block = found->slab->record_at(address);
  if (block == nullptr || !block->is_allocated.load()) return {memory_state::free};
  if (found->slab->is_host_memory()) return {};
  return {memory_state::in_use, found->device};
}

allocation_map::located_record allocation_map::find_with_range(void const* address) noexcept {
  std::uintptr_t const region = address_of(address) >> region_bits;
  std::uintptr_t const value = load_region(region);
  if (value == mixed_region) return find_with_range_slow_path(address_of(address));
  base::byte_range const bounds{region << region_bits, (region + 1) << region_bits};
  if (value == 0) return {nullptr, bounds};
  // Bounded by the region: the block may contain other entries in the next region.
  return locate_block(*reinterpret_cast<pool_slab const*>(value), address_of(address), bounds);
}

allocation_map::entry const* allocation_map::innermost_entry(
    std::uintptr_t address) const noexcept {
  auto const next = entries_.upper_bound(address);
  if (next == entries_.begin()) return nullptr;
  entry const* found = &std::prev(next)->second;
  while (found != nullptr && address >= found->end) found = found->enclosing;
  return found;
}

allocation_record* allocation_map::find_slow_path(std::uintptr_t address) noexcept {
  std::shared_lock const lock(mutex_);
  entry const* const found = innermost_entry(address);
  if (found == nullptr) return nullptr;
  if (found->slab == nullptr) return found->record;
  return found->slab->record_at(reinterpret_cast<void const*>(address));
}

// Finds the entry that innermost_entry finds. The nearest nested entries before and after `address`
// bound the range.
allocation_map::located_record allocation_map::find_with_range_slow_path(
    std::uintptr_t address) noexcept {
  std::shared_lock const lock(mutex_);
  auto const next = entries_.upper_bound(address);
  std::uintptr_t const end = next == entries_.end() ? UINTPTR_MAX : next->first;
  std::uintptr_t begin = 0;
  entry const* found = next == entries_.begin() ? nullptr : &std::prev(next)->second;
  for (; found != nullptr && address >= found->end; found = found->enclosing) begin = found->end;
  if (found == nullptr) return {nullptr, {begin, std::max(end, address + 1)}};
  base::byte_range const bounds{std::max(begin, found->begin), std::min(end, found->end)};
  if (found->slab == nullptr) return {found->record, bounds};
  return locate_block(*found->slab, address, bounds);
}

std::atomic<std::uintptr_t>& allocation_map::region_slot(std::uintptr_t region) {
  auto& b = branches_[region >> 2 * level_bits & level_mask];
  if (b.load(std::memory_order_relaxed) == nullptr) b.store(new branch, std::memory_order_release);
  auto& l = b.load(std::memory_order_relaxed)->leaves[region >> level_bits & level_mask];
  if (l.load(std::memory_order_relaxed) == nullptr) l.store(new leaf, std::memory_order_release);
  return l.load(std::memory_order_relaxed)->regions[region & level_mask];
}

void allocation_map::update_regions(std::uintptr_t begin, std::uintptr_t end) noexcept {
  for (std::uintptr_t region = begin >> region_bits; region <= (end - 1) >> region_bits; ++region) {
    std::uintptr_t const last = ((region + 1) << region_bits) - 1;
    std::uintptr_t const first = region << region_bits;
    auto const next = entries_.upper_bound(last);
    bool const is_divided = next != entries_.begin() && std::prev(next)->first > first;
    entry const* const innermost = innermost_entry(first);
    std::uintptr_t value = mixed_region;
    if (innermost == nullptr && !is_divided) {
      value = 0;
    } else if (!is_divided && innermost->end > last && innermost->slab != nullptr) {
      // Only a slab that covers the whole region: lookups of other memory in the region must not
      // read it without the lock, because nothing keeps it alive for them.
      value = reinterpret_cast<std::uintptr_t>(innermost->slab);
    }
    region_slot(region).store(value, std::memory_order_release);
  }
}

}  // namespace roc::memory
