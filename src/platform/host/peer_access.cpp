// SPDX-License-Identifier: MIT
#include "platform/host/peer_access.hpp"

#include <array>
#include <atomic>

#include "platform/host/arena.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// By device: the peers to whose memory it has access.
using access_table = std::array<std::atomic<device_set>, max_device_count>;
constinit access_table peer_accesses{};
constinit access_table pool_accesses{};

std::atomic<device_set>& row_of(access_table& table, int device) noexcept {
  return table[static_cast<std::size_t>(device)];
}

constexpr device_set set_of(int device) noexcept { return device_set{1} << device; }

// Returns true if the table has changed.
bool set(access_table& table, int device, int peer, bool value) noexcept {
  device_set const bit = set_of(peer);
  device_set const previous =
      value ? row_of(table, device).fetch_or(bit) : row_of(table, device).fetch_and(~bit);
  return ((previous & bit) != 0) != value;
}

}  // namespace

bool is_connected(int device, int peer) {
  return device != peer &&
         (host_settings().peers[static_cast<std::size_t>(device)] & set_of(peer)) != 0;
}

bool set_peer_access(int device, int peer, bool is_enabled) noexcept {
  return set(peer_accesses, device, peer, is_enabled);
}

void set_pool_access(int device, int owner, bool is_allowed) noexcept {
  set(pool_accesses, device, owner, is_allowed);
}

device_set accessible_devices(int device) noexcept {
  return row_of(peer_accesses, device).load() | row_of(pool_accesses, device).load() |
         set_of(device);
}

bool can_access_memory(int device, void const* address) {
  int const owner = owning_device(address);
  if (owner < 0 || owner == device) return true;
  auto const allocated = device_arena(owner).find(address);
  bool const is_from_pool = allocated && allocated->is_from_pool;
  access_table& table = is_from_pool ? pool_accesses : peer_accesses;
  return (row_of(table, device).load() & set_of(owner)) != 0;
}

}  // namespace roc::host_hip
