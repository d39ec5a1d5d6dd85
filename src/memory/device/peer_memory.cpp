// SPDX-License-Identifier: MIT
#include "memory/device/peer_memory.hpp"

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/device/pool_slab.hpp"

namespace roc::memory {

bool is_peer_accessible(void const* address) noexcept {
  allocation_record const* const record = find_record(address);
  if (record == nullptr) return false;
  if (record->pool == nullptr) return record->is_peer_accessible;
  auto const* const block = static_cast<pool_block const*>(record);
  return block->span->slab->source().is_peer_accessible;
}

}  // namespace roc::memory
