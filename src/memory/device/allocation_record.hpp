// SPDX-License-Identifier: MIT
// The streams that use one device allocation.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/thread_sanitizer.hpp"
#include "runtime/stream_id.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::memory {

class pool_state;

/// The record of one device allocation: its owners, and the streams whose work may still use its
/// memory.
///
/// Members are safe to call from any thread. Each that accesses the uses takes the mutex of its
/// record for a short time, also while it calls HIP; several records share one mutex. The fields
/// `pool`, `allocation_stream`, `has_prior_work`, `is_peer_accessible` and `is_from_driver_pool` are
/// written before the memory is handed out and are constant while it is allocated.
class allocation_record {
 public:
  /// The pool that owns the block; null if the memory is from another resource.
  pool_state* pool = nullptr;
  /// The stream that the memory was allocated on; empty if no stream has prior work.
  runtime::stream_id allocation_stream;
  /// Work enqueued on allocation_stream before the allocation may still use the memory.
  bool has_prior_work = false;
  /// Peers can access the memory: see detail::resource_block. Not set for the blocks of a pool, whose
  /// slabs tell it.
  bool is_peer_accessible = false;
  /// The memory is not of `pool` but of one of the driver; see resource_block.
  bool is_from_driver_pool = false;
  /// The number of owners of the memory, less one.
  std::atomic<std::uint32_t> more_owners = 0;
  /// Graphs contain the memory's address: see allocation_watch.hpp.
  std::atomic<bool> is_watched = false;

  /// Returns true if streams other than allocation_stream have used the memory. Lock-free.
  bool is_used_by_other_streams() const noexcept {
    return used_by_other_streams_.load(std::memory_order_acquire);
  }
  /// Returns true if work on `stream` needs no call of begin_use: it is the allocation stream, or
  /// the last stream of the library that used the memory. Lock-free.
  bool has_tracked(runtime::stream_id const& stream) const noexcept {
    return stream == allocation_stream || stream.generation() == last_use_generation_.load();
  }
  /// Records that work about to be enqueued on `stream` uses the memory, and makes `stream` wait
  /// for prior work. Does not block; may call HIP.
  /// Returns true if the stream is foreign: the caller must call finish_use after it has enqueued
  /// the work. Throws roc::error, std::bad_alloc.
  bool begin_use(runtime::stream_id const& stream);
  /// Blocks until each allocation_visit of the record has ended that may have seen the memory
  /// allocated. To be called after the memory has been marked as free, and before the record is
  /// written without its mutex, used again or destroyed. Costs a fence unless there are visits.
  /// Does not call HIP.
  void wait_for_visits() noexcept {
    if constexpr (!base::has_thread_sanitizer) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (visit_count.load(std::memory_order_acquire) == 0) return;
    }
    wait_for_visits_slow_path();
  }
  /// Records a use by work that has been enqueued on `stream`; if that is foreign, with an event
  /// after the work. Does not block; calls HIP. Throws roc::error, and the use then remains without
  /// an event; std::bad_alloc.
  void finish_use(runtime::stream_id const& stream);

  /// Records uses that another object has tracked. Does not call HIP. Throws std::bad_alloc; some
  /// uses may be missing then.
  void add_uses(runtime::stream_uses const& uses);

  /// Makes `stream` wait for all recorded uses. Does not block; calls HIP. Throws roc::error,
  /// std::bad_alloc. No use is removed.
  void order_before(runtime::stream_id const& stream);
  /// Makes `stream` the allocation stream: makes it wait for the work of the former one and for all
  /// recorded uses, and forgets these. Does not block; calls HIP. Throws roc::error,
  /// std::bad_alloc; allocation stream and uses then remain, some uses with an event that was
  /// recorded by the call, so that it can be repeated.
  void move_to(runtime::stream_id const& stream);
  /// Records events for uses that have none, and removes the uses that have finished. Returns true
  /// if none is left. Does not block; calls HIP. Throws roc::error, std::bad_alloc; no use is lost.
  bool remove_finished_uses();
  /// Blocks until all recorded uses have finished, and removes them. Returns false, after it has
  /// logged errors, if work may still be pending: the memory must then never be freed or reused.
  bool wait_for_uses() noexcept;
  /// Returns a copy of the uses. Throws std::bad_alloc.
  runtime::stream_uses uses() const;
  /// Removes all uses and returns them. Does not call HIP.
  runtime::stream_uses take_uses() noexcept;
  /// Removes all uses. Does not call HIP, except to destroy events.
  void forget_uses() noexcept;

 private:
  friend class allocation_visit;

  /// The number of allocation_visits, of all records.
  static inline constinit std::atomic<unsigned> visit_count = 0;

  /// Implements wait_for_visits if there are visits. Takes the mutex of the record.
  void wait_for_visits_slow_path() noexcept;

  // The caller holds the mutex of the record.
  bool begin_use_locked(runtime::stream_id const& stream);
  void finish_use_locked(runtime::stream_id const& stream);
  void forget_last_use_locked() noexcept;
  void forget_uses_locked() noexcept;

  std::atomic<bool> used_by_other_streams_ = false;  // uses_ is not empty
  // The generation of the last stream of the library in uses_ that used the memory; 0 if there is
  // none. Foreign streams do not change it: each of their uses needs an event after it.
  std::atomic<std::uint64_t> last_use_generation_ = 0;
  runtime::stream_uses uses_;  // by streams other than allocation_stream; guarded by the mutex
};

/// Holds the mutex of a record whose memory the caller does not keep allocated. If the memory is
/// allocated after the constructor, it stays so until the visit ends: its deallocation blocks in
/// wait_for_visits. Only allocation_map::find_allocated can tell, because the record may have been
/// destroyed already. A thread must not deallocate memory during a visit.
class allocation_visit {
 public:
  /// Uses the address of the record only.
  explicit allocation_visit(allocation_record* record) noexcept;
  ~allocation_visit();
  allocation_visit(allocation_visit const&) = delete;
  allocation_visit& operator=(allocation_visit const&) = delete;

  /// Do what the functions of the record do. The memory must be allocated.
  bool begin_use(runtime::stream_id const& stream) {
    return !record_->has_tracked(stream) && record_->begin_use_locked(stream);
  }
  void finish_use(runtime::stream_id const& stream) { record_->finish_use_locked(stream); }

 private:
  allocation_record* const record_;
};

}  // namespace roc::memory
