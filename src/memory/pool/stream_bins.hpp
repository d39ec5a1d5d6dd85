// SPDX-License-Identifier: MIT
// The free memory of a pool that work enqueued before its deallocation may still use.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

#include "memory/pool/free_list.hpp"
#include "memory/pool/pool_heap.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

/// The memory of a pool that was deallocated on one stream.
struct stream_bin {
  runtime::stream_id stream;
  free_list unfenced;  // deallocated after `fence` was recorded, or without a fence
  free_list fenced;    // no work that uses it was enqueued after `fence`
  runtime::shared_event fence;
  /// Work of the default stream may use some of the memory too.
  bool has_default_stream_memory = false;
  unsigned caches = 0;  // the number of thread caches that move their blocks here

  std::size_t bytes() const noexcept { return unfenced.bytes + fenced.bytes; }
};

/// The free memory of a pool, in one bin for each stream that memory was deallocated on. Memory can
/// be reused immediately on its stream, and on every stream after the work of its stream has
/// finished; then it moves to the idle memory of the pool_heap. To keep deallocation cheap, events
/// are recorded only when another stream needs the memory.
///
/// The caller of every member function holds the mutex of the pool. Only wait_for_all blocks,
/// reclaim_finished for a short time, and grow_and_take if the upstream does. Members that call HIP
/// may throw roc::error and std::bad_alloc; no memory is lost then.
class stream_bins {
 public:
  using stream_id = runtime::stream_id;

  /// `heap` must outlive this object. `device` is its device.
  stream_bins(pool_heap& heap, int device) : heap_(heap), device_(device) {}

  /// Returns the bin of the stream, and creates it at the first call. The reference is valid until
  /// the mutex of the pool is released, or while a thread cache refers to the bin. Does not call
  /// HIP. Throws std::bad_alloc.
  stream_bin& bin_of(stream_id const& stream);

  /// Takes memory that `stream` may use: from its own bin, or from idle memory. A stream that waits
  /// for the default stream anyway takes memory of the default stream's bin too. Sets
  /// `has_prior_work` to false if the memory is idle, and to true otherwise. Returns null if
  /// nothing fits. Does not call HIP.
  pool_block* take(block_request const& request, stream_id const& stream, bool& has_prior_work);
  /// Adds a slab to the heap and takes memory from it for `stream`. If earlier work on the default
  /// stream may still use the slab, makes `stream` wait for it. Returns null if the heap cannot
  /// grow. Calls the upstream, which may block, and HIP.
  pool_block* grow_and_take(block_request const& request, stream_id const& stream,
                            bool& has_prior_work);
  /// Coalesces the idle memory, and the memory of each bin that `stream` may take from. Does not
  /// call HIP.
  void merge_free_spans(stream_id const& stream) noexcept;

  /// Adds a block that was deallocated on its allocation_stream, or on none if that is empty. It
  /// can be reused there only after all uses in its record. Does not call HIP.
  void put(pool_block& block) noexcept;

  /// Queries the events that are already recorded, and records events for destroyed streams, whose
  /// empty bins it removes. Returns true if memory became available, to all streams or to one.
  /// Calls HIP.
  bool poll();
  /// Checks the streams whose bins could serve the request, other than `stream`, and records events
  /// on those that are busy. Returns true if memory became idle. Calls HIP.
  bool reclaim_fitting(block_request const& request, stream_id const& stream);
  /// Checks all streams, and records events on those that are busy, but not on the default stream:
  /// there it would make each stream wait for all others. Returns true if memory became idle. Calls
  /// HIP.
  bool reclaim_all();
  /// Makes all memory idle whose work has finished. Queries all streams, once also the default
  /// stream, so that one call is enough if the device is idle. Records events on those that are
  /// busy or cannot be queried, and polls them for up to 10 ms: their work may be about to finish.
  /// Releases `lock`, the caller's lock of the pool, meanwhile. Calls HIP.
  void reclaim_finished(std::unique_lock<std::mutex>& lock);
  /// Blocks until all memory deallocated so far can be used on every stream, and releases `lock`,
  /// the caller's lock of the pool, while it blocks. If it throws, `lock` is held again.
  void wait_for_all(std::unique_lock<std::mutex>& lock);

  /// Returns the bytes of all memory in the bins, and of pending blocks.
  std::size_t pending_bytes() const noexcept;
  /// Returns the bytes of the largest free span in the bins.
  std::size_t largest_span_bytes() const noexcept;

 private:
  /// Moves the pending blocks whose uses have finished to the bins. Returns true if there was one.
  bool poll_pending();
  /// Records an event after all work of the bin's stream, unless there is one, and fences the
  /// unfenced memory. If all work of the stream is known to be done, makes the memory idle and
  /// returns true.
  bool fence(stream_bin& bin);
  /// Does what `fence` does with an event that covers all memory of the bin, in place of an earlier
  /// one.
  bool fence_all_memory(stream_bin& bin);
  /// Makes fenced memory idle if the event was reached. Returns true if memory became idle.
  bool collect(stream_bin& bin);
  /// Returns true if work of the default stream may use memory of the bin that the bin's own stream
  /// does not wait for.
  static bool depends_on_default_stream(stream_bin const& bin) noexcept;
  /// Returns true if the bin's stream has no pending work, and no other work can use its memory.
  /// `is_default_stream_idle` tells that the default stream has no pending work; false if unknown.
  static bool is_known_idle(stream_bin const& bin, bool is_default_stream_idle);
  /// Returns true if the default stream and all blocking streams of the device are idle. Returns
  /// false without a query if no memory depends on it, or if a capture is in progress that the
  /// query may invalidate. Only a trim calls this: on a busy AMD device the query enqueues a marker
  /// on the default stream, which waits for all blocking streams.
  bool query_default_stream() const;
  /// Makes all memory of the bin idle if its stream is known to be idle; see is_known_idle for
  /// `is_default_stream_idle`. Otherwise records an event, if `may_fence`, and queries the event.
  /// Returns true if memory became idle.
  bool reclaim(stream_bin& bin, bool may_fence, bool is_default_stream_idle);
  /// Returns true if an event has been recorded and not been reached.
  bool has_unreached_events() const noexcept;

  pool_heap& heap_;
  int const device_;
  std::list<stream_bin> bins_;
  // Linked blocks that wait for the uses in their records, or for memory for a bin.
  pool_block* pending_ = nullptr;
  std::size_t pending_block_bytes_ = 0;  // of the blocks in pending_
};

}  // namespace roc::memory
