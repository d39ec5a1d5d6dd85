// SPDX-License-Identifier: MIT
// The pageable memory of host arrays and its cache; see roc/memory/pageable_cache.hpp.
#pragma once

#include <cstddef>
#include <mutex>

#include <roc/memory/pageable_cache.hpp>

namespace roc::memory {

/// Allocates pageable memory, and keeps freed memory of 2 MiB and more. Members are safe to call
/// from any thread.
class pageable_cache {
 public:
  /// Returns the one cache of the process, which is never destroyed. Does not allocate.
  static pageable_cache& instance() noexcept;

  /// Returns memory that is aligned for vector instructions and DMA; from 2 MiB on, it is aligned
  /// to huge pages, which the system is advised to use. If memory is exhausted, frees the cache and
  /// tries again. Throws out_of_memory.
  void* allocate(std::size_t bytes);
  /// Takes back memory of allocate(bytes), which no work uses: caches or frees it. May free other
  /// blocks to stay within the limit.
  void deallocate(void* data, std::size_t bytes) noexcept;
  /// Frees the oldest blocks until at most `keep` bytes are left.
  void trim_to(std::size_t keep) noexcept;
  pageable_cache_information information();

 private:
  // A cached block begins with this, so that caching does not allocate.
  struct free_block {
    free_block* next;
    std::size_t bytes;
  };

  /// Removes and returns the newest block of this size; null if there is none.
  void* take(std::size_t bytes) noexcept;

  // The caller holds mutex_.
  free_block* remove_locked(free_block*& link) noexcept;

  std::mutex mutex_;              // guards everything below
  free_block* oldest_ = nullptr;  // the head of the list
  free_block** end_ = &oldest_;   // the null link at the end of the list
  std::size_t blocks_ = 0;        // in the list
  std::size_t bytes_ = 0;         // of the blocks in the list
  std::size_t reused_ = 0;
  std::size_t allocated_ = 0;
};

}  // namespace roc::memory
