// SPDX-License-Identifier: MIT
// The cache of freed pinned memory; see roc/memory/pinned_cache.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include <roc/memory/pinned_cache.hpp>

#include "memory/host/host_uses.hpp"

namespace roc::memory {

/// One allocation of hipHostMalloc. Its destructor does not free the memory. It is also the node of
/// the cache's list, so that giving memory back does not allocate.
struct pinned_block {
  void* data = nullptr;
  std::size_t bytes = 0;
  unsigned flags = 0;  // of hipHostMalloc
  int device = -1;     // the device that the memory is pinned for; -1: all devices

  std::shared_ptr<host_uses> uses = {};     // may be pending; null: none
  std::unique_ptr<pinned_block> next = {};  // in the cache
};

/// Members are safe to call from any thread.
class pinned_cache {
 public:
  /// Returns the one cache of the process, which is never destroyed. Does not allocate.
  static pinned_cache& instance() noexcept;

  /// Returns a block of at least `bytes` with these flags of hipHostMalloc: a cached one whose uses
  /// have finished, or a new one. The caller owns the memory. Does not wait for cached blocks
  /// unless pinned memory is exhausted; then frees all cached blocks, which blocks until their uses
  /// have finished. Throws out_of_memory, roc::error, std::bad_alloc.
  std::unique_ptr<pinned_block> take(std::size_t bytes, unsigned flags);
  /// Takes ownership of a block and its memory, which block->uses may still use. Caches it, without
  /// blocking; if it cannot be cached, blocks until the uses have finished and frees it. May free
  /// other blocks to stay within the limit, which blocks. Errors go to the log hook. Memory whose
  /// uses could not be waited for is leaked.
  void put(std::unique_ptr<pinned_block> block) noexcept;
  /// Frees the oldest blocks until at most `keep` bytes are left. Blocks until their uses have
  /// finished. Errors go to the log hook, and memory is leaked, as by put.
  void trim(std::size_t keep) noexcept;
  pinned_cache_information information();

 private:
  // The caller of the functions that end in _locked holds mutex_.

  /// Removes and returns the smallest block that matches `wanted` and whose uses have finished;
  /// null if there is none. Does not block; calls HIP.
  std::unique_ptr<pinned_block> find_locked(pinned_block const& wanted) noexcept;
  /// Removes and returns the block of a link of the list.
  std::unique_ptr<pinned_block> remove_locked(std::unique_ptr<pinned_block>& link) noexcept;

  std::mutex mutex_;                      // guards everything below
  std::unique_ptr<pinned_block> oldest_;  // the head of the list of cached blocks
  std::size_t blocks_ = 0;                // in the list
  std::size_t bytes_ = 0;                 // of the blocks in the list
  std::size_t reused_ = 0;                // blocks returned from the cache
  std::size_t pinned_ = 0;                // blocks returned from HIP
};

}  // namespace roc::memory
