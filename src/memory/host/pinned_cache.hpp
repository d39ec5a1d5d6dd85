// SPDX-License-Identifier: MIT
// Pinned blocks that were freed, kept for reuse: roc/memory/pinned_cache.hpp.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

#include <roc/memory/pinned_cache.hpp>

#include "memory/host/pending_uses.hpp"

namespace roc::memory {

/// One allocation of hipHostMalloc.
struct pinned_block {
  void* data = nullptr;
  std::size_t bytes = 0;
  unsigned flags = 0;
  int device = -1;  // the one that it is pinned for; -1: every one
};

class pinned_cache {
 public:
  static pinned_cache& instance();

  /// At least `bytes` with these flags of hipHostMalloc: kept ones, else new ones. Throws
  /// out_of_memory, when what was kept has been freed.
  pinned_block take(std::size_t bytes, unsigned flags);
  /// Keeps the block, or frees it; `pending` may still use it.
  void give(pinned_block const& block, pending_uses pending) noexcept;
  void trim(std::size_t keep) noexcept;
  pinned_cache_information information();

 private:
  struct kept {
    pinned_block block;
    pending_uses pending;
  };

  bool find(std::size_t bytes, unsigned flags, int device, pinned_block& found);

  std::mutex mutex_;
  std::list<kept> kept_;  // oldest first
  std::size_t bytes_ = 0;
  std::size_t reused_ = 0;
  std::size_t pinned_ = 0;
};

}  // namespace roc::memory
