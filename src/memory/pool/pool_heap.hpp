// SPDX-License-Identifier: MIT
// The slabs of a pool, and its idle memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

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
  /// Memory of a removed slab, to be returned to the upstream.
  struct upstream_block {
    std::byte* data;
    std::size_t bytes;
  };
  /// Why the heap could not grow.
  struct growth_failure {
    std::string message;
    std::error_code code;
    char const* call = "";  // the HIP call that failed, or ""
  };

  pool_heap(pool_state& pool, memory_resource& upstream, pool_options const& options);

  /// The idle memory.
  free_list& idle() noexcept { return idle_; }
  free_list const& idle() const noexcept { return idle_; }
  /// Adds a block that no work uses. Does not call HIP.
  void put_idle(pool_block& block);
  /// Moves everything from `list`, whose memory no work uses any more, to the idle memory. Does not
  /// call HIP.
  void move_to_idle(free_list& list);
  /// Turns spans whose small blocks are all idle back into free spans, and coalesces adjacent idle
  /// spans. Spans that work may still use are not merged, because they become reusable after
  /// different work. Does not call HIP.
  void merge_free_spans();

  /// Takes a slab from the upstream that is large enough for the request, and returns its one free
  /// span, which is in no free_list. Returns null, and sets last_failure, if the limit or the
  /// upstream does not permit it. Calls the upstream, which may call HIP and block. Throws
  /// roc::error for other failures; the heap is unchanged.
  pool_span* grow(block_request const& request);
  growth_failure const& last_failure() const noexcept { return failure_; }
  /// Returns true if new slabs are idle on every stream, because the upstream waits for all work
  /// when memory is freed. Otherwise, work on the default stream may still use a new slab.
  bool grows_idle() const noexcept { return upstream_is_idle_; }

  /// Removes all slabs that are completely idle. The caller releases the mutex of the pool and then
  /// calls return_to_upstream, which may block. Does not call HIP.
  std::vector<upstream_block> remove_idle_slabs();
  /// Deallocates removed slabs from the upstream. The caller does not hold the mutex of the pool:
  /// the call may block until all work on the device has finished.
  void return_to_upstream(std::vector<upstream_block> const& blocks) noexcept;

  /// Returns the block of this pool that contains `data`; null if there is none. O(slabs).
  pool_block* find_block(void const* data) const noexcept;

  std::size_t reserved_bytes() const noexcept { return reserved_; }
  /// Returns the maximum bytes that the heap takes from the upstream.
  std::size_t limit() const noexcept { return limit_; }
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

 private:
  /// Takes a slab of `bytes`; see grow.
  pool_span* add_slab(std::size_t bytes);

  pool_state& pool_;
  memory_resource& upstream_;
  bool const upstream_is_idle_;
  std::size_t limit_;
  std::size_t const slab_bytes_;  // maximum size of a slab, unless one block needs more
  std::vector<std::unique_ptr<pool_slab>> slabs_;
  free_list idle_;
  std::size_t reserved_ = 0;  // bytes of all slabs
  growth_failure failure_;
};

}  // namespace roc::memory
