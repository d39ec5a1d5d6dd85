// SPDX-License-Identifier: MIT
// The implementation of pool_resource.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/memory/pool_resource.hpp>

#include "memory/device/pool_slab.hpp"
#include "memory/pool/free_list.hpp"
#include "memory/pool/pool_heap.hpp"
#include "memory/pool/stream_bins.hpp"
#include "memory/pool/thread_cache.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

/// A pool. Its pool_resource and all threads that cache blocks of it share ownership. It is never
/// destroyed if blocks are still in use when the pool_resource is destroyed.
///
/// An allocation is served from the first of these that has memory: the thread's cache, without a
/// lock; the bin of the stream, or idle memory; the caches of other threads; bins of other streams
/// whose work has finished; a new slab from the upstream; memory whose pending work it waits for.
///
/// Public members are safe to call from any thread, and take the mutex of the pool unless stated
/// otherwise.
class pool_state final : public thread_cache_owner {
 public:
  /// Throws roc::error if the upstream does not name its device.
  pool_state(memory_resource& upstream, pool_options const& options);
  ~pool_state() override;

  /// Returns memory for work enqueued on `stream` from now on. Takes no lock and does not call HIP
  /// if the thread's cache has a block. Blocks only if memory is short. Throws out_of_memory,
  /// roc::error.
  detail::resource_block allocate(std::size_t bytes, stream_ref stream);
  /// Deallocates memory. If the block has prior work, that of the streams in its record may still
  /// use the memory; without a record, work enqueued on `stream` so far. Takes no lock and does not
  /// call HIP for blocks that no other stream used, unless the cache is full. Loses no memory if
  /// host memory is exhausted. Blocks only after a failure of HIP. Logs invalid arguments.
  void deallocate(detail::resource_block const& block, std::size_t bytes,
                  stream_ref stream) noexcept;
  /// Returns all slabs that no work uses to the upstream. Blocks if the upstream does, and for up
  /// to 10 ms if work is pending.
  void trim();
  /// Returns all memory that is not in use to the upstream, because the pool_resource is being
  /// destroyed. Blocks until pending work has finished. Errors, and blocks in use, go to the log.
  void close() noexcept;

  memory_statistics statistics();
  int device() const noexcept { return device_; }
  std::optional<host_memory> host_kind() const noexcept { return host_kind_; }
  std::size_t limit();
  /// Sets the limit, and trims the pool if it holds more.
  void set_limit(std::size_t bytes);

 private:
  using pool_lock = std::unique_lock<std::mutex>;
  using stream_id = runtime::stream_id;

  thread_cache& acquire_cache(stream_id const& stream) override;
  void release_cache(thread_cache& cache) noexcept override;
  bool is_closed() const noexcept override { return closed_.load(); }

  /// Takes a block from the thread's cache. Returns null if `cache` is null or has no block, or if
  /// another thread has entered it.
  pool_block* take_cached(thread_cache* cache, std::size_t bytes);
  /// Implements allocate if the thread has not used its cache recently, or the cache has no block.
  detail::resource_block allocate_slow_path(std::size_t bytes, stream_ref stream);
  /// Returns a block from anywhere but the thread's cache. Takes the mutex, and blocks without it
  /// if memory is short. Sets `has_prior_work` as stream_bins::take does. Throws out_of_memory,
  /// roc::error.
  pool_block* take_uncached(block_request const& request, stream_id const& stream,
                            bool& has_prior_work);
  /// Implements deallocate if the block has no record of a live allocation of this pool.
  void deallocate_unrecorded(detail::resource_block const& block, std::size_t bytes,
                             stream_ref stream) noexcept;
  /// Frees a block whose memory work of its allocation_stream, and work in its record, may still
  /// use. `cache` is the thread's for that stream, or null. Takes the mutex unless the cache takes
  /// the block.
  void put(pool_block& block, thread_cache* cache) noexcept;
  /// Puts a large block into the thread's cache, which the caller has entered, and leaves it. Takes
  /// the mutex if another block must leave the cache.
  void put_large(pool_block& block, thread_cache& entered) noexcept;
  /// Frees a block that is not put into a cache. Takes the mutex; calls HIP if other streams used
  /// the block or its stream is foreign.
  void put_slow_path(pool_block& block) noexcept;
  /// Subtracts a block, which is then put elsewhere, from the bytes that the thread has allocated,
  /// as its cache counts them.
  void count_deallocated(pool_block const& block) noexcept;
  /// Frees a block whose memory no work uses. Takes the mutex.
  void put_idle(pool_block& block) noexcept;
  /// Frees a block after all work of all devices has finished; leaks it if the wait fails.
  void wait_and_put(pool_block& block) noexcept;
  /// Marks a block as allocated and returns it. The caller owns the block; takes no lock of the
  /// pool.
  static detail::resource_block hand_out(pool_block& block, std::size_t bytes,
                                         stream_id const& stream, bool has_prior_work) noexcept;
  /// Returns the block to be freed and marks it as not allocated. Returns null, and logs a message,
  /// if the arguments are not those of a live allocation of this pool.
  pool_block* checked_block(void* data, std::size_t bytes) noexcept;

  /// Moves half of the cache's blocks of the size class to the bin of its stream. Takes the mutex
  /// and enters the cache.
  void flush_half(thread_cache& cache, unsigned size_class) noexcept;
  /// Takes the mutex and updates the peak.
  void update_peak();
  /// Never destroys this pool, whose blocks are still in use: their owners may still use the
  /// records.
  void keep_alive_forever() noexcept;

  // The caller of the following functions holds the mutex. They enter the caches that they change.

  /// Moves all blocks of the cache to the bin of its stream.
  void empty_locked(thread_cache& cache) noexcept;
  /// Moves the large blocks of all caches to the bins of their streams. A large allocation that
  /// no cache serves begins with it, and a small one for which no other memory is found, so that
  /// they can take, divide and merge them.
  void return_large_blocks_locked() noexcept;
  /// Moves the large blocks of a cache, which the caller has entered, to the bin of its stream.
  void return_large_blocks_of_entered_locked(thread_cache& entered) noexcept;
  /// Moves a block that was removed from the cache to the bin of its stream.
  void move_to_bin_locked(thread_cache const& cache, pool_block& block) noexcept;
  /// Empties all caches in use, or only those whose stream was destroyed.
  void empty_caches_locked(bool only_destroyed_streams) noexcept;
  /// Takes a block for the request from any thread's cache for the stream; null if there is none.
  pool_block* steal_locked(block_request const& request, stream_id const& stream) noexcept;
  /// Subtracts a block from the counts of outstanding blocks.
  void count_returned_locked(pool_block const& block) noexcept;
  /// Returns the bytes of the blocks that users hold, exactly if no other thread allocates or
  /// deallocates.
  std::size_t current_bytes_locked();
  memory_statistics statistics_locked();
  /// Throws out_of_memory with the statistics and the last failure of the heap.
  [[noreturn]] void throw_out_of_memory_locked(block_request const& request);

  int const device_;
  std::optional<host_memory> const host_kind_;
  std::atomic<bool> closed_ = false;
  std::shared_ptr<thread_cache_owner> self_;  // set by keep_alive_forever, as the next member
  pool_state* next_kept_alive_ = nullptr;
  std::mutex mutex_;  // guards everything below
  pool_heap heap_;
  stream_bins bins_;
  std::vector<std::unique_ptr<thread_cache>> caches_;  // never removed; unused ones are reused
  std::size_t outstanding_bytes_ = 0;                  // allocated by users, or in caches
  std::size_t outstanding_blocks_ = 0;
  std::size_t peak_ = 0;         // of the bytes that users hold
  std::size_t allocations_ = 0;  // not served by a thread_cache
};

}  // namespace roc::memory
