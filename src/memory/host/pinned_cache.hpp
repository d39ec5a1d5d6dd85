// SPDX-License-Identifier: MIT
// The cache of freed pinned memory; see roc/memory/pinned_cache.hpp.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

#include <roc/memory/pinned_cache.hpp>

#include "memory/host/pending_uses.hpp"

namespace roc::memory {

/// One allocation of hipHostMalloc. Does not own the memory.
struct pinned_block {
  void* data = nullptr;
  std::size_t bytes = 0;
  unsigned flags = 0;  // of hipHostMalloc
  int device = -1;     // the device that the memory is pinned for; -1: all devices
};

/// Members are safe to call from any thread.
class pinned_cache {
 public:
  /// Returns the one cache of the process, which is never destroyed.
  static pinned_cache& instance();

  /// Returns a block of at least `bytes` with these flags of hipHostMalloc: a cached one whose uses
  /// have finished, or a new one. The caller owns it. Does not wait for cached blocks unless pinned
  /// memory is exhausted; then frees all cached blocks, which blocks until their uses have
  /// finished. Throws out_of_memory, roc::error.
  pinned_block take(std::size_t bytes, unsigned flags);
  /// Takes ownership of a block that `pending` may still use. Caches it, without blocking; if it
  /// cannot be cached, blocks until the uses have finished and frees it. May free other blocks to
  /// stay within the limit, which blocks. Errors go to the log hook.
  void put(pinned_block const& block, pending_uses pending) noexcept;
  /// Frees the oldest blocks until at most `keep` bytes are left. Blocks until their uses have
  /// finished. Errors go to the log hook.
  void trim(std::size_t keep) noexcept;
  pinned_cache_information information();

 private:
  struct cached_block {
    pinned_block block;
    pending_uses pending;
  };

  /// Removes the smallest matching block whose uses have finished and stores it in `found`. Returns
  /// false if there is none. The caller holds the mutex. Does not block; calls HIP.
  bool find_locked(std::size_t bytes, unsigned flags, int device, pinned_block& found);

  std::mutex mutex_;                // guards everything below
  std::list<cached_block> blocks_;  // oldest first
  std::size_t bytes_ = 0;           // of blocks_
  std::size_t reused_ = 0;          // blocks returned from the cache
  std::size_t pinned_ = 0;          // blocks returned from HIP
};

}  // namespace roc::memory
