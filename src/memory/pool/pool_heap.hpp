// SPDX-License-Identifier: MIT
// The slabs of a pool, and its idle memory.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <system_error>

#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pool_resource.hpp>

#include "memory/device/pool_slab.hpp"
#include "memory/pool/free_list.hpp"

namespace roc::memory {

/// The slabs that a pool took from its upstream, and the free memory that no work uses on any
/// stream ("idle"). The caller of every member function holds the mutex of the pool, unless stated
/// otherwise.
class pool_heap {
 public:
  /// Why the heap could not grow.
  struct growth_failure {
    std::string message;
    std::error_code code;
    char const* call = "";  // the HIP call that failed, or ""
  };

  pool_heap(pool_state& pool, memory_resource& upstream, int device, pool_options const& options);

  /// The idle memory.
  free_list& idle() noexcept { return idle_; }
  free_list const& idle() const noexcept { return idle_; }
  /// Adds a block that no work uses. Does not call HIP.
  void put_idle(pool_block& block) noexcept;
  /// Moves everything from `list`, whose memory no work uses any more, to the idle memory. Does not
  /// call HIP.
  void move_to_idle(free_list& list) noexcept;
  /// Turns spans whose small blocks are all in the list, the idle memory or another one of the
  /// pool, back into free spans, and coalesces adjacent spans of the list. Does not call HIP.
  void merge_free_spans(free_list& list) noexcept;

  /// Takes a slab from the upstream that is large enough for the request, and adds its one free
  /// span to the idle memory, or to `pending` if work of the default stream may still use it.
  /// Returns false, and sets last_failure, if the limit or the upstream does not permit it. Calls
  /// the upstream, which may call HIP and block. Throws roc::error for other failures,
  /// std::bad_alloc; the heap is unchanged.
  bool grow(block_request const& request, free_list& pending);
  growth_failure const& last_failure() const noexcept { return failure_; }

  /// Removes all slabs that are completely idle. The caller releases the mutex of the pool and then
  /// calls return_to_upstream, which may block. Does not call HIP.
  std::list<pool_slab> remove_idle_slabs() noexcept;
  /// Deallocates removed slabs from the upstream. The caller does not hold the mutex of the pool:
  /// the call may block until all work on the device has finished.
  void return_to_upstream(std::list<pool_slab> const& removed) noexcept;

  /// Returns the block of this pool that contains `data`; null if there is none. O(slabs).
  pool_block* find_block(void const* data) const noexcept;

  std::size_t reserved_bytes() const noexcept { return reserved_; }
  /// Returns the maximum bytes that the heap takes from the upstream.
  std::size_t limit() const noexcept { return limit_; }
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

 private:
  /// Takes a slab of `bytes`; see grow.
  bool add_slab(std::size_t bytes, free_list& pending);

  pool_state& pool_;
  memory_resource& upstream_;
  int const device_;  // of the upstream
  std::size_t limit_;
  std::size_t const slab_bytes_;  // maximum size of a slab, unless one block needs more
  std::list<pool_slab> slabs_;
  free_list idle_;
  std::size_t reserved_ = 0;  // bytes of all slabs
  growth_failure failure_;
};

}  // namespace roc::memory
