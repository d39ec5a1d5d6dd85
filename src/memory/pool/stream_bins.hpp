// SPDX-License-Identifier: MIT
// The free memory of a pool that work enqueued before its deallocation may still use.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <vector>

#include "memory/pool/free_list.hpp"
#include "memory/pool/pool_heap.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

/// The free memory of a pool, in one bin for each stream that memory was deallocated on. Memory can
/// be reused immediately on its stream, and on every stream after the work of its stream has
/// finished; then it moves to the idle memory of the pool_heap. To keep deallocation cheap, events
/// are recorded only when another stream needs the memory.
///
/// The caller of every member function holds the mutex of the pool. Only wait_for_all blocks, and
/// grow_and_take if the upstream does. Members that call HIP may throw roc::error; members that add
/// memory may throw std::bad_alloc.
class stream_bins {
 public:
  using stream_id = runtime::stream_id;

  /// `heap` must outlive this object. `device` is its device.
  stream_bins(pool_heap& heap, int device) : heap_(heap), device_(device) {}

  /// Takes memory that `stream` may use: from its own bin, or from idle memory. A stream that waits
  /// for the default stream anyway takes memory of the default stream's bin too. Sets
  /// `has_prior_work` to false if the memory is idle, and to true otherwise. Returns null if
  /// nothing fits. Does not call HIP.
  pool_block* take(block_request const& request, stream_id stream, bool& has_prior_work);
  /// Adds a slab to the heap and takes memory from it for `stream`. If earlier work on the default
  /// stream may still use the slab, makes `stream` wait for it. Returns null if the heap cannot
  /// grow. Calls the upstream, which may block, and HIP.
  pool_block* grow_and_take(block_request const& request, stream_id stream, bool& has_prior_work);

  /// Adds a block that was deallocated on `stream`, or that is idle if `stream` is empty. Does not
  /// call HIP.
  void put(pool_block& block, stream_id stream);
  /// Returns the list for memory that is deallocated on `stream`. The reference is valid until the
  /// mutex of the pool is released. Does not call HIP.
  free_list& list_of(stream_id stream) { return bin_of(stream).unfenced; }
  /// Adds a block that can be reused only after all `events`. poll then puts it on `stream`. Does
  /// not call HIP. If it throws std::bad_alloc, the block is lost.
  void put_pending(pool_block& block, stream_id stream, std::vector<runtime::shared_event> events);

  /// Queries the events that are already recorded, and records events for destroyed streams, whose
  /// empty bins it removes. Returns true if memory became available, to all streams or to one.
  /// Calls HIP.
  bool poll();
  /// Checks the streams whose bins could serve the request, other than `stream`, and records events
  /// on those that are busy. Returns true if memory became idle. Calls HIP.
  bool reclaim_fitting(block_request const& request, stream_id stream);
  /// Checks all streams, and records events on those that are busy. Returns true if memory became
  /// idle. Calls HIP.
  bool reclaim_all();
  /// Records an event on each stream whose bin has memory and no event. Calls HIP.
  void fence_all();
  /// Blocks until all memory deallocated so far can be used on every stream, and releases `lock`,
  /// the caller's lock of the pool, while it blocks. If it throws, `lock` is held again.
  void wait_for_all(std::unique_lock<std::mutex>& lock);

  /// Returns the bytes of all memory in the bins, and of pending blocks.
  std::size_t pending_bytes() const noexcept;
  /// Returns the bytes of the largest free span in the bins.
  std::size_t largest_span_bytes() const noexcept;

 private:
  /// Memory deallocated on one stream.
  struct bin {
    stream_id stream;
    free_list unfenced;  // deallocated after `fence` was recorded, or without a fence
    free_list fenced;    // no work that uses it was enqueued after `fence`
    runtime::shared_event fence;
    /// Work of the default stream may use some of the memory too.
    bool has_default_stream_memory = false;
  };
  /// A block that work of several streams may use.
  struct pending_block {
    pool_block* block;
    stream_id stream;  // the stream of the deallocation; empty if that is foreign
    std::vector<runtime::shared_event> events;
  };

  /// Returns the bin of the stream, and creates it at the first call.
  bin& bin_of(stream_id stream);
  /// Records an event after all work of the bin's stream, unless there is one, and fences the
  /// unfenced memory. If the stream was destroyed and its work has finished, makes the memory idle.
  void fence(bin& b);
  /// Makes fenced memory idle if the event was reached. Returns true if memory became idle.
  bool collect(bin& b);
  /// Makes all memory of the bin idle if its stream is idle. Otherwise records an event, if
  /// `may_fence`, and queries the event. Returns true if memory became idle.
  bool reclaim(bin& b, bool may_fence);

  pool_heap& heap_;
  int const device_;
  std::list<bin> bins_;
  std::list<pending_block> pending_;
  std::size_t pending_block_bytes_ = 0;  // of the blocks in pending_
};

}  // namespace roc::memory
