// SPDX-License-Identifier: MIT
#include "memory/block_table.hpp"

#include <iterator>
#include <mutex>

#include "memory/pool_chunk.hpp"

namespace roc::memory {
namespace {

constexpr unsigned region_bits = 21;
constexpr unsigned level_bits = 12;
constexpr std::uintptr_t level_mask = (std::uintptr_t{1} << level_bits) - 1;
// No chunk's address: look into the map.
constexpr std::uintptr_t crowded = 1;

std::uintptr_t address_of(void const* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

// Leaked on purpose: static arrays are freed after every other static object.
block_table& block_table::instance() {
  static auto* const table = new block_table;
  return *table;
}

void block_table::add(void const* data, std::size_t bytes, pool_chunk* chunk) {
  insert(data, bytes, {0, chunk, nullptr});
}

void block_table::add(void const* data, std::size_t bytes, memory_record* record) {
  insert(data, bytes, {0, nullptr, record});
}

void block_table::insert(void const* data, std::size_t bytes, tenant what) {
  std::unique_lock const lock(mutex_);
  what.end = address_of(data) + bytes;
  tenants_.emplace(address_of(data), what);
  refresh(address_of(data), what.end);
}

void block_table::remove(void const* data) noexcept {
  std::unique_lock const lock(mutex_);
  auto place = tenants_.upper_bound(address_of(data));
  if (place == tenants_.begin() || (--place)->first != address_of(data)) return;
  std::uintptr_t const end = place->second.end;
  tenants_.erase(place);
  refresh(address_of(data), end);
}

memory_record* block_table::find(void const* address) noexcept {
  std::uintptr_t const region = address_of(address) >> region_bits;
  branch* const b = branches_[region >> 2 * level_bits & level_mask].load(std::memory_order_acquire);
  if (b == nullptr) return nullptr;
  leaf* const l = b->leaves[region >> level_bits & level_mask].load(std::memory_order_acquire);
  if (l == nullptr) return nullptr;
  std::uintptr_t const found = l->entries[region & level_mask].load(std::memory_order_acquire);
  if (found == 0) return nullptr;
  if (found == crowded) return find_slowly(address_of(address));
  return reinterpret_cast<pool_chunk*>(found)->record_at(address);
}

memory_record* block_table::find_slowly(std::uintptr_t address) noexcept {
  std::shared_lock const lock(mutex_);
  auto next = tenants_.upper_bound(address);
  if (next == tenants_.begin()) return nullptr;
  tenant const& found = std::prev(next)->second;
  if (address >= found.end) return nullptr;
  if (found.chunk == nullptr) return found.record;
  return found.chunk->record_at(reinterpret_cast<void const*>(address));
}

std::atomic<std::uintptr_t>& block_table::entry(std::uintptr_t region) {
  auto& b = branches_[region >> 2 * level_bits & level_mask];
  if (b.load(std::memory_order_relaxed) == nullptr) b.store(new branch, std::memory_order_release);
  auto& l = b.load(std::memory_order_relaxed)->leaves[region >> level_bits & level_mask];
  if (l.load(std::memory_order_relaxed) == nullptr) l.store(new leaf, std::memory_order_release);
  return l.load(std::memory_order_relaxed)->entries[region & level_mask];
}

// Holding the lock. Writes anew what the regions from `begin` to `end` hold.
void block_table::refresh(std::uintptr_t begin, std::uintptr_t end) {
  for (std::uintptr_t region = begin >> region_bits; region <= (end - 1) >> region_bits; ++region) {
    std::uintptr_t const last = ((region + 1) << region_bits) - 1;
    auto next = tenants_.upper_bound(last);
    std::uintptr_t value = 0;
    if (next != tenants_.begin()) {
      auto const tail = std::prev(next);
      if (tail->second.end > region << region_bits) {
        bool const alone = tail->first <= region << region_bits || tail == tenants_.begin() ||
                           std::prev(tail)->second.end <= region << region_bits;
        bool const simple = alone && tail->second.chunk != nullptr;
        value = simple ? reinterpret_cast<std::uintptr_t>(tail->second.chunk) : crowded;
      }
    }
    entry(region).store(value, std::memory_order_release);
  }
}

}  // namespace roc::memory
