// SPDX-License-Identifier: MIT
#include "memory/device/allocation_map.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>

#include "memory/pool/pool_chunk.hpp"

namespace roc::memory {
namespace {

constexpr unsigned region_bits = 21;
constexpr unsigned level_bits = 12;
constexpr std::uintptr_t level_mask = (std::uintptr_t{1} << level_bits) - 1;
// No chunk's address: look into the map.
constexpr std::uintptr_t crowded = 1;

std::uintptr_t address_of(void const* data) { return reinterpret_cast<std::uintptr_t>(data); }

// The block of a chunk at an address, as far as it lies in `within`; where there is none, the
// address alone.
allocation_map::answer block_at(pool_chunk const& chunk, std::uintptr_t at, base::byte_range within) noexcept {
  pool_block* const block = chunk.record_at(reinterpret_cast<void const*>(at));
  if (block == nullptr) return {nullptr, {at, at + 1}};
  base::byte_range const own = base::byte_range::of(block->data, block->bytes());
  return {block, {std::max(own.begin, within.begin), std::min(own.end, within.end)}};
}

}  // namespace

// Leaked on purpose: static arrays are freed after every other static object.
allocation_map& allocation_map::instance() {
  static auto* const table = new allocation_map;
  return *table;
}

void allocation_map::add(void const* data, std::size_t bytes, pool_chunk* chunk) {
  insert(data, bytes, {0, chunk, nullptr, 0, nullptr});
}

void allocation_map::add(void const* data, std::size_t bytes, allocation_record* record) {
  insert(data, bytes, {0, nullptr, record, 0, nullptr});
}

void allocation_map::insert(void const* data, std::size_t bytes, tenant what) {
  std::unique_lock const lock(mutex_);
  what.begin = address_of(data);
  what.end = what.begin + bytes;
  what.around = tenant_at(what.begin);
  tenants_.emplace(what.begin, what);
  refresh(what.begin, what.end);
}

void allocation_map::remove(void const* data) noexcept {
  std::unique_lock const lock(mutex_);
  auto place = tenants_.upper_bound(address_of(data));
  if (place == tenants_.begin() || (--place)->first != address_of(data)) return;
  std::uintptr_t const end = place->second.end;
  // What lies in it outlives it only where somebody gave back too early.
  for (auto inner = std::next(place); inner != tenants_.end() && inner->first < end; ++inner) {
    if (inner->second.around == &place->second) inner->second.around = place->second.around;
  }
  tenants_.erase(place);
  refresh(address_of(data), end);
}

// A chunk, `crowded`, or 0 for a region in which nothing is known.
std::uintptr_t allocation_map::known_of(std::uintptr_t region) const noexcept {
  auto const& place = branches_[region >> 2 * level_bits & level_mask];
  branch* const b = place.load(std::memory_order_acquire);
  if (b == nullptr) return 0;
  leaf* const l = b->leaves[region >> level_bits & level_mask].load(std::memory_order_acquire);
  if (l == nullptr) return 0;
  return l->entries[region & level_mask].load(std::memory_order_acquire);
}

allocation_record* allocation_map::find(void const* address) noexcept {
  std::uintptr_t const known = known_of(address_of(address) >> region_bits);
  if (known == 0) return nullptr;
  if (known == crowded) return find_slow_path(address_of(address));
  return reinterpret_cast<pool_chunk*>(known)->record_at(address);
}

allocation_map::answer allocation_map::find_around(void const* address) noexcept {
  std::uintptr_t const at = address_of(address);
  std::uintptr_t const region = at >> region_bits;
  std::uintptr_t const known = known_of(region);
  if (known == crowded) return find_around_slowly(at);
  base::byte_range const whole{region << region_bits, (region + 1) << region_bits};
  if (known == 0) return {nullptr, whole};
  // Of the region alone: in the next one something may lie within the block.
  return block_at(*reinterpret_cast<pool_chunk const*>(known), at, whole);
}

// Holding the lock. The innermost one that holds the address.
allocation_map::tenant const* allocation_map::tenant_at(std::uintptr_t address) const noexcept {
  auto const next = tenants_.upper_bound(address);
  if (next == tenants_.begin()) return nullptr;
  tenant const* found = &std::prev(next)->second;
  while (found != nullptr && address >= found->end) found = found->around;
  return found;
}

allocation_record* allocation_map::find_slow_path(std::uintptr_t address) noexcept {
  std::shared_lock const lock(mutex_);
  tenant const* const found = tenant_at(address);
  if (found == nullptr) return nullptr;
  if (found->chunk == nullptr) return found->record;
  return found->chunk->record_at(reinterpret_cast<void const*>(address));
}

// As tenant_at, less the tenants that lie within what it finds, before and behind the address.
allocation_map::answer allocation_map::find_around_slowly(std::uintptr_t address) noexcept {
  std::shared_lock const lock(mutex_);
  auto const next = tenants_.upper_bound(address);
  std::uintptr_t const end = next == tenants_.end() ? UINTPTR_MAX : next->first;
  std::uintptr_t begin = 0;
  tenant const* around = next == tenants_.begin() ? nullptr : &std::prev(next)->second;
  for (; around != nullptr && address >= around->end; around = around->around) begin = around->end;
  if (around == nullptr) return {nullptr, {begin, std::max(end, address + 1)}};
  base::byte_range const within{std::max(begin, around->begin), std::min(end, around->end)};
  if (around->chunk == nullptr) return {around->record, within};
  return block_at(*around->chunk, address, within);
}

std::atomic<std::uintptr_t>& allocation_map::entry(std::uintptr_t region) {
  auto& b = branches_[region >> 2 * level_bits & level_mask];
  if (b.load(std::memory_order_relaxed) == nullptr) b.store(new branch, std::memory_order_release);
  auto& l = b.load(std::memory_order_relaxed)->leaves[region >> level_bits & level_mask];
  if (l.load(std::memory_order_relaxed) == nullptr) l.store(new leaf, std::memory_order_release);
  return l.load(std::memory_order_relaxed)->entries[region & level_mask];
}

// Holding the lock. Writes anew what the regions from `begin` to `end` hold.
void allocation_map::refresh(std::uintptr_t begin, std::uintptr_t end) {
  for (std::uintptr_t region = begin >> region_bits; region <= (end - 1) >> region_bits; ++region) {
    std::uintptr_t const last = ((region + 1) << region_bits) - 1;
    std::uintptr_t const first = region << region_bits;
    auto const next = tenants_.upper_bound(last);
    tenant const* only = tenant_at(first);
    bool alone = only == nullptr || only->around == nullptr || only->end > last;
    if (next != tenants_.begin() && std::prev(next)->first > first) {
      auto const begun = std::prev(next);
      alone = only == nullptr && begun->second.around == nullptr &&
              (begun == tenants_.begin() || std::prev(begun)->first <= first);
      only = &begun->second;
    }
    std::uintptr_t value = 0;
    if (only != nullptr) {
      bool const simple = alone && only->chunk != nullptr;
      value = simple ? reinterpret_cast<std::uintptr_t>(only->chunk) : crowded;
    }
    entry(region).store(value, std::memory_order_release);
  }
}

}  // namespace roc::memory
