// SPDX-License-Identifier: MIT
#include "runtime/peer_access.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <source_location>
#include <vector>

#include "base/log.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"

namespace roc::runtime {
namespace {

// Devices with larger ordinals get no access.
constexpr std::size_t max_devices = 64;

enum class pair_state : unsigned char { unknown, enabled, unavailable };

struct peer_table {
  // By device and peer. Written with the mutex held.
  std::array<std::array<std::atomic<pair_state>, max_devices>, max_devices> states{};
  std::mutex mutex;
  std::map<int, std::vector<hipMemPool_t>> pools;  // by device
};

// Never destroyed: static arrays are copied after other static objects have been destroyed.
peer_table& peer_accesses() noexcept {
  static base::no_destructor<peer_table> instance;
  return *instance;
}

bool is_in_table(int device) noexcept {
  return device >= 0 && static_cast<std::size_t>(device) < max_devices;
}

std::atomic<pair_state>& state_of(int device, int peer) noexcept {
  return peer_accesses().states[static_cast<std::size_t>(device)][static_cast<std::size_t>(peer)];
}

void allow(hipMemPool_t pool, int device) {
  hipMemAccessDesc access{};
  access.location.type = native_detail::device_location;
  access.location.id = device;
  access.flags = native_detail::full_access;
  ROCARRAY_HIP(hipMemPoolSetAccess, pool, &access, 1);
}

// Returns true if the code means that the access of this pair cannot be enabled, now or later.
bool means_no_access(hipError_t code) noexcept {
  constexpr auto too_many_peers = static_cast<hipError_t>(711);  // HIP has no name for CUDA's code
  return code == hipErrorPeerAccessUnsupported || code == too_many_peers ||
         code == hipErrorInvalidDevice || code == hipErrorNotSupported;
}

// Returns true if the access is enabled now.
bool try_enable(int device, int peer) {
  int can_access = 0;
  ROCARRAY_HIP(hipDeviceCanAccessPeer, &can_access, device, peer);
  if (can_access == 0) return false;
  on_device const guard(device);
  hipError_t const result = ROCARRAY_HIP_CODE(hipDeviceEnablePeerAccess, peer, 0u);
  if (means_no_access(result)) {
    base::log_line(base::log_level::warning,
                   "device %d cannot access the memory of device %d (error %d); copies between "
                   "them go through scratch memory",
                   device, peer, static_cast<int>(result));
    return false;
  }
  if (result != hipSuccess && result != hipErrorPeerAccessAlreadyEnabled) {
    platform::detail::fail(platform::call::call_hipDeviceEnablePeerAccess, result,
                           std::source_location::current());
  }
  for (hipMemPool_t const pool : peer_accesses().pools[peer]) allow(pool, device);
  return true;
}

}  // namespace

peer_access enable_peer_access(int device, int peer) {
  if (!is_in_table(device) || !is_in_table(peer)) return peer_access::unavailable;
  auto& state = state_of(device, peer);
  if (state.load(std::memory_order_acquire) == pair_state::unknown) {
    if (is_any_capture_active()) return peer_access::deferred;
    platform::refuse_in_host_function();
    std::lock_guard const lock(peer_accesses().mutex);
    if (state.load(std::memory_order_relaxed) == pair_state::unknown) {
      bool const is_enabled = try_enable(device, peer);
      state.store(is_enabled ? pair_state::enabled : pair_state::unavailable,
                  std::memory_order_release);
    }
  }
  return state.load(std::memory_order_relaxed) == pair_state::enabled ? peer_access::enabled
                                                                      : peer_access::unavailable;
}

void share_pool(int device, hipMemPool_t pool) {
  if (!is_in_table(device)) return;
  std::lock_guard const lock(peer_accesses().mutex);
  auto& pools = peer_accesses().pools[device];
  if (std::find(pools.begin(), pools.end(), pool) == pools.end()) pools.push_back(pool);
  for (std::size_t peer = 0; peer != max_devices; ++peer) {
    int const ordinal = static_cast<int>(peer);
    if (state_of(ordinal, device).load(std::memory_order_relaxed) == pair_state::enabled) {
      allow(pool, ordinal);
    }
  }
}

}  // namespace roc::runtime
