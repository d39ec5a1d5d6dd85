// SPDX-License-Identifier: MIT
// The small blocks that one thread keeps for one stream.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "memory/pool/pool_chunk.hpp"
#include "memory/pool/size_class.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

/// Its thread never waits: where another thread empties the cache at that moment, it goes to the
/// pool instead.
struct thread_cache {
  std::atomic<bool> busy = false;
  bool owned = true;  // by a thread; under the pool's lock
  runtime::stream_id stream;
  // The rest belongs to who made the cache busy.
  std::array<pool_block*, class_count> heads{};
  std::array<std::uint32_t, class_count> counts{};
  std::size_t bytes = 0;        // kept here
  std::size_t allocations = 0;  // served from here
  std::ptrdiff_t taken = 0;     // bytes handed to the thread less those it gave back
  std::ptrdiff_t most = 0;      // the largest `taken`

  bool try_enter() noexcept { return !busy.exchange(true, std::memory_order_acquire); }
  void enter() noexcept {
    while (!try_enter()) std::this_thread::yield();
  }
  void leave() noexcept { busy.store(false, std::memory_order_release); }

  /// How many blocks of a class are worth keeping.
  static constexpr std::uint32_t room(unsigned which) {
    std::size_t const fit = (std::size_t{512} << 10) / class_bytes(which);
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, 2, 64));
  }

  /// Counts bytes handed out. Whether they are more than ever before.
  bool take(std::size_t size) noexcept {
    taken += static_cast<std::ptrdiff_t>(size);
    bool const rises = taken > most;
    if (rises) most = taken;
    return rises;
  }
  pool_block* pop(unsigned which) noexcept {
    pool_block* const block = heads[which];
    if (block == nullptr) return nullptr;
    heads[which] = block->next;
    --counts[which];
    bytes -= class_bytes(which);
    return block;
  }
  void push(pool_block& block, unsigned which) noexcept {
    block.next = heads[which];
    heads[which] = &block;
    ++counts[which];
    bytes += class_bytes(which);
  }
};

}  // namespace roc::memory
